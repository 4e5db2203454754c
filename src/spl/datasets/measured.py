"""Measured data: falling balls, the Lorenz data of the paper, and a filmed double pendulum.

None of it is part of this package. Files are searched in the folder named by the environment variable `SPL_DATA`, then in
the cache, and otherwise downloaded into the cache. Each is checked against its SHA-256.
"""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from spl.datasets.download import RemoteFile, find_file, find_given
from spl.datasets.workbook import read_workbook
from spl.errors import DataError, suggest_name

# Sources of the files, each at a fixed commit, so that they cannot change.
BALLS_BASE = (
    "https://raw.githubusercontent.com/briandesilva/discovery-of-physics-from-data/"
    "480510008d15d30fe41b4dcd18bb4d01e6549c8e/"
)
PAPER_BASE = (
    "https://raw.githubusercontent.com/isds-neu/SymbolicPhysicsLearner/6d2ede0158b42503d4de09c3612148d21ca6bfb1/"
)
LORENZ_STEP = 0.01
TRACK_RATE = 400.0  # frames per second of the filmed double pendulum
TRACK_COLUMNS = (
    "pivot_y",
    "pivot_x",
    "mass1_y",
    "mass1_x",
    "mass2_y",
    "mass2_x",
)  # in camera units; y points down
PENDULUM_COLUMNS = ("theta1", "theta2", "omega1", "omega2", "domega1", "domega2")

_BALLS_DIGEST = "942b2d68abfff3828ca323de491435d4ec27c3a22e62cee0cbdf52c2e8d1c0ed"
_BALLS_TABLE_DIGEST = "393bbae979f56ce3b9f56a7c9a05663e73422ad522e075d667165f375d40dc6b"
_LORENZ_DIGESTS = {
    "x": "a9fb7561d4467888b66d4f980071e938e4ad3d497b5fb32e33d878d7cc6987e5",
    "y": "f82e6957797fff97f445a174286cab86a4a81904c328dac3b8ae70012088af25",
    "z": "415227bbc2b0193e775db70d44c6d9fc47189c03473c4ad43d2d4793aaef6653",
}
_PENDULUM_DIGESTS = {
    "train": "afc028ab18afe87b9bd30d206b76d4d6878696df46a241290fdf478f0c1a1c9d",
    "test": "e571cc2dab2fdcffbd78bcb75fce7188cd7c9863ed1999462c47013f1e08ef9a",
}
_TRACK_DIGESTS = (
    "0c02780291f4d19c1e92ad45c0f8e958ae15413def5834b98dd4c6935ad3adbd",
    "11bc145e34c0745a71881ec48089cda43da2171ee3e4081ba24d335acbfa1f2e",
    "94d326951762fd133a549a4c8b2de81c97d330e6dbe997407b8b367d7a73c3bd",
    "3d8e91f8e52cee26de41ae32081aabd9e2463ad423a59e9714d78bb402f48547",
    "8c20addd10d5ab78df894927ec4ae1a278eaf56d96b1ed3ed49dcbea076217ae",
    "dbd310a7e512d46b7e9e0d16b932d965746ef46685055fb5031f6ecfa094c465",
    "79e0a9b415fa6e4e59ce016f2f6fcee759a9a9491d58ffde6e73303eab3f506e",
    "c16496123e485c4d29d8c62a761e7d889d89a38acb638ee43f087e6ff300df3e",
    "2ef747e2ba1cf8f31af766a3905632e6efd0e65dd95aca08fdfb546ce8ce38d0",
    "a32078daa3b914f510dfd5645ad7ca655ac4a736f2423a41606e6030e623427b",
    "a7042a4efde78b017fcab37defa73624efd92f8bacf1a87085044ccd9b3fdcde",
    "3e33ed1cc0cd81afd90e4738c51f1801ce4885439b138febf7909578a30b858c",
    "ccdde6af4e65200389a85480b3a34c183cef5affff4a11f43d81cc565d64fded",
    "a16d1fbb7da0c8a13a154d75da78f2863ea7aeb32408804537a1f36bf7e8cc44",
    "bdaaad2e81d70b2cfe9759f4a934153cfd0ac2e8c7d59572e4558c6c80f5840d",
    "fd93d1a5bf03b9fd3876c3dcf7cda45f3faefd1b7d1e5fa3f1a5ad103915f891",
    "8698d6df71114b8b15ff2c90b501167baf77072347bd716dbe7f1b472161f4a6",
    "90347861a2e574935c1cab0ed377cea1196645901aec0484ebdc6e60b13660c8",
    "980201de83bc13ea932b996e0151060131dbe964aabe4dc7d71fc9dfabb84a72",
    "5615a0ef2371527a9275986488c30dc180f30ea4011b7d2e6085c07d4d8a849f",
    "a89ead7ed464e28c04370de80d2011e78c4f213154d37c928cd8a9b4184a6101",
)


@dataclass(frozen=True, slots=True, eq=False)
class Drop:
    """The fall of one ball."""

    ball: str
    number: int  # 1 or 2
    time_s: NDArray[np.float64]  # [N]
    height_m: NDArray[np.float64]  # [N]


@dataclass(frozen=True, slots=True, eq=False)
class BallDrop:
    """Eleven kinds of balls, each dropped twice from a bridge (de Silva et al. 2020)."""

    drops: tuple[Drop, ...]

    @property
    def balls(self) -> tuple[str, ...]:
        """The names of the balls."""
        return tuple(dict.fromkeys(drop.ball for drop in self.drops))

    def select_drop(self, ball: str, number: int = 1) -> Drop:
        """Return one of the two drops of a ball."""
        for drop in self.drops:
            if (drop.ball, drop.number) == (ball, number):
                return drop
        if ball in self.balls:
            raise DataError(f"There is no drop {number!r} of '{ball}'. There are drops 1 and 2.")
        known = ", ".join(self.balls)
        raise DataError(f"There is no ball '{ball}'.{suggest_name(ball, self.balls)} The balls are: {known}.")


@dataclass(frozen=True, slots=True, eq=False)
class LorenzPaper:
    """The noisy Lorenz data of Sun et al. (2023), with three significant digits. The paper trains on the first 6000 rows."""

    step: float  # time between samples
    names: tuple[str, ...]
    states: NDArray[np.float64]  # [N, 3], with noise
    derivatives: NDArray[np.float64]  # [N, 3], smoothed estimates


@dataclass(frozen=True, slots=True, eq=False)
class DoublePendulum:
    """Samples of a filmed double pendulum as Sun et al. (2023) prepared them: smoothed angles, rates and accelerations.

    Angles are in radians, unwrapped, 0 where the pendulum hangs. Rows are single moments in random order, not trajectories;
    some moments appear twice.
    """

    names: tuple[str, ...]  # of the columns: theta1, theta2, omega1, omega2, domega1, domega2
    train: NDArray[np.float64]  # [5000, 6], runs 0 to 4
    test: NDArray[np.float64]  # [2000, 6], runs 5 and 6

    def select_column(self, name: str, part: Literal["train", "test"] = "train") -> NDArray[np.float64]:
        """Return a column [N] by its name."""
        if name not in self.names:
            raise DataError(
                f"There is no column '{name}'.{suggest_name(name, self.names)} The columns are: {', '.join(self.names)}."
            )
        table = self.train if part == "train" else self.test
        return table[:, self.names.index(name)]


# ---- falling balls -------------------------------------------------------------------------------


def fetch_ball_drop() -> BallDrop:
    """Return the drops of eleven balls, heights in metres and times in seconds.

    Examples:
        >>> balls = fetch_ball_drop()  # doctest: +SKIP
        >>> balls.select_drop("Golf Ball").height_m.round(2)[:2]  # doctest: +SKIP
        array([49.47, 49.44])
    """
    table = find_given(
        RemoteFile("ball_drop/ball_drops.csv", f"{BALLS_BASE}Data/Ball_drops_data.xls", _BALLS_TABLE_DIGEST)
    )
    if table is not None:
        return _gather_drops(_rows_of_table(table))
    workbook = find_file(
        RemoteFile("ball_drop/Ball_drops_data.xls", f"{BALLS_BASE}Data/Ball_drops_data.xls", _BALLS_DIGEST)
    )
    return _gather_drops(_rows_of_workbook(workbook))


def _rows_of_table(path: Path) -> Iterable[tuple[str, int, float, float]]:
    with path.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            yield row["ball"], int(row["drop"]), float(row["time_s"]), float(row["height_m"])


def _rows_of_workbook(path: Path) -> Iterable[tuple[str, int, float, float]]:
    for ball, rows in read_workbook(path.read_bytes(), str(path)).items():
        for row in rows[1:]:  # after the header: drop, time, height, velocity
            if all(column in row for column in "ABC"):
                yield ball, int(row["A"]), float(row["B"]), float(row["C"])


def _gather_drops(rows: Iterable[tuple[str, int, float, float]]) -> BallDrop:
    samples: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for ball, number, time, height in rows:
        samples.setdefault((ball, number), []).append((time, height))
    return BallDrop(tuple(Drop(*key, *np.array(pairs).T.copy()) for key, pairs in samples.items()))


# ---- the paper's Lorenz data ---------------------------------------------------------------------


def fetch_lorenz_paper() -> LorenzPaper:
    """Return the noisy Lorenz data of the paper with its estimates of the derivatives.

    Examples:
        >>> data = fetch_lorenz_paper()  # doctest: +SKIP
        >>> data.states.shape  # doctest: +SKIP
        (9505, 3)
    """
    tables = []
    for state, digest in _LORENZ_DIGESTS.items():
        name = f"Lorenz_{state}.csv"
        file = RemoteFile(f"lorenz/{name}", f"{PAPER_BASE}dynamics_task/data/Lorenz_data/{name}", digest)
        tables.append(_read_numbers(find_file(file), n_header=1))
    derivatives = np.column_stack([table[:, 3] for table in tables])  # the states are the same in all three
    return LorenzPaper(LORENZ_STEP, tuple(_LORENZ_DIGESTS), tables[0][:, :3].copy(), derivatives)


# ---- the filmed double pendulum ------------------------------------------------------------------


@overload
def fetch_double_pendulum(raw: Literal[False] = False) -> DoublePendulum: ...


@overload
def fetch_double_pendulum(raw: Literal[True]) -> list[NDArray[np.float64]]: ...


def fetch_double_pendulum(raw: bool = False) -> DoublePendulum | list[NDArray[np.float64]]:
    """Return the samples that the paper prepared, or the 21 original camera tracks.

    A track is a table [N, 6] of about 17,500 frames, 400 per second, with the columns `TRACK_COLUMNS` in camera units; y points
    down (Asseman et al. 2018).

    Args:
        raw: whether to return the tracks.

    Examples:
        >>> fetch_double_pendulum().train.shape  # doctest: +SKIP
        (5000, 6)
        >>> len(fetch_double_pendulum(raw=True))  # doctest: +SKIP
        21
    """
    if raw:
        return [_read_track(number) for number in range(len(_TRACK_DIGESTS))]
    return DoublePendulum(PENDULUM_COLUMNS, _read_samples("train"), _read_samples("test"))


def _read_samples(part: str) -> NDArray[np.float64]:
    name = f"dp_f2_{part}.csv"  # dp_f1 holds the same with the two accelerations exchanged
    address = f"{PAPER_BASE}dynamics_task/data/{name}"
    return _read_numbers(find_file(RemoteFile(f"double_pendulum/{name}", address, _PENDULUM_DIGESTS[part])))


def _read_track(number: int) -> NDArray[np.float64]:
    address = f"{PAPER_BASE}dynamics_task/data/dp_ibm_raw/original/dpc_dataset_csv/{number}.csv"
    return _read_numbers(find_file(RemoteFile(f"double_pendulum/raw/{number}.csv", address, _TRACK_DIGESTS[number])))


def _read_numbers(path: Path, *, n_header: int = 0) -> NDArray[np.float64]:
    return np.loadtxt(path, delimiter=",", skiprows=n_header, ndmin=2, dtype=np.float64)
