"""Parallel work: in threads of this machine, or on whatever joblib backend the caller has chosen.

`joblib.parallel_config("loky")` means processes of this machine, `joblib.parallel_config("dask")` a cluster. What workers need to know
about a search is packed once, with the user's functions if cloudpickle can pack them.
"""

import hashlib
import signal
import socket
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib.metadata import version
from multiprocessing import parent_process
from threading import current_thread, main_thread
from typing import Any
from urllib.parse import urlsplit

from spl.errors import OperatorError, SettingError, WorkerError

MAX_ATTEMPTS = 3  # of a call whose worker was lost; by then Dask has tried as often
CONNECT_SECONDS = 10
# loky replaces a process that has grown by 300 MB since its first call, as the bank of a search may make it, and warns
RENEWED_WORKER = "A worker stopped while some jobs were given to the executor"
SCHEMES = ("tcp", "tls", "ws", "wss", "ucx")  # of the addresses of Dask schedulers
LARGE_TASKS = "1 GiB"  # Dask warns about larger tasks: ours carry large states, but there are few of them


def run_all(tasks: Sequence[Callable[[], Any]], n_jobs: int) -> list[Any]:
    """Run all tasks in threads and return their results in order. With one job, they run here, one after the other."""
    if n_jobs == 1 or len(tasks) <= 1:
        return [task() for task in tasks]
    from joblib import Parallel, delayed

    return list(Parallel(n_jobs=min(n_jobs, len(tasks)), require="sharedmem")(delayed(task)() for task in tasks))


# ---- what is sent --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parcel:
    """A packed object for workers, which unpack it once: parcels with the same content are equal."""

    digest: str
    content: bytes

    def __hash__(self) -> int:
        return hash(self.digest)

    def unpack(self) -> Any:
        """Return the object."""
        import cloudpickle

        try:
            return cloudpickle.loads(self.content)
        except (ImportError, AttributeError) as error:
            raise WorkerError(
                f"A worker process cannot load what was sent to it: {error}. Install the module of your operators there "
                f"too, or define them where you start the search."
            ) from None


def pack(value: Any) -> Parcel:
    """Return an object as a parcel.

    Examples:
        >>> pack([1, 2]).unpack()
        [1, 2]
    """
    import cloudpickle

    try:
        content = cloudpickle.dumps(value)
    except Exception as error:  # whatever is in the user's functions
        raise OperatorError(
            f"The search cannot be sent to other processes: {error}. An operator's function must not hold on to open files, "
            f"locks or the like; or search in threads, without a joblib backend."
        ) from error
    return Parcel(hashlib.sha256(content).hexdigest(), content)


def ignore_ctrl_c() -> None:
    """Let a worker process of this machine leave Ctrl-C to its parent; a terminal sends it to both."""
    if parent_process() is not None and current_thread() is main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


# ---- workers -----------------------------------------------------------------------------------


class Workers:
    """The workers of the active joblib backend: threads, unless the caller has chosen another."""

    def __init__(self, n_jobs: int) -> None:
        backend = _chosen_backend()
        self._n_jobs = n_jobs
        self._client = getattr(backend, "client", None)  # of Dask
        self._shared: dict[Parcel, Any] = {}
        has_threads = backend is None or getattr(backend, "supports_sharedmem", False)
        self.share_memory = has_threads or (n_jobs == 1 and self._client is None)

    def share(self, parcel: Parcel) -> Parcel:
        """Send a parcel to every worker of a cluster, so that calls need not carry it."""
        if self._client is not None:
            self._shared[parcel] = self._client.scatter(parcel, broadcast=True, hash=False)
        return parcel

    def run(self, function: Callable[..., Any], calls: Iterable[tuple[Any, ...]]) -> list[Any]:
        """Return the results of all calls in order. Arguments are taken from `calls` only when a worker is free.

        If a worker is lost, Dask passes its call to another. If that is not enough, all calls are made again.
        """
        made: list[tuple[Any, ...]] = []
        rest = iter(calls)

        def take() -> Iterator[tuple[Any, ...]]:
            for call in rest:
                made.append(call)
                yield call

        attempt: Iterable[tuple[Any, ...]] = take()
        for _ in range(MAX_ATTEMPTS):
            try:
                return self._run(function, attempt)
            except _errors_of_lost_workers() as error:
                lost = error
                attempt = [*made, *take()]
                for parcel in self._shared:
                    self.share(parcel)
        raise WorkerError(
            f"Worker processes were lost {MAX_ATTEMPTS} times: {lost} They may need more memory; use fewer of them."
        ) from lost

    def greet(self, prepare: Callable[[], None]) -> None:
        """Let every worker prepare itself, and check that it has the same version of spl."""
        if self.share_memory:
            return
        try:
            versions = self._greet(prepare)
        except ImportError as error:
            raise WorkerError(f"A worker cannot load spl: {error}. Install it everywhere.") from error
        strangers = [found for found in versions if found != _own_version()]
        if strangers:
            raise WorkerError(
                f"Here is spl {_own_version()}, but a worker has {strangers[0]}. Install the same version everywhere."
            )

    def _greet(self, prepare: Callable[[], None]) -> list[str]:
        if self._client is None:
            return self._run(_answer, [(prepare,)] * self._n_jobs)
        addresses = list(self._client.ncores())
        answers = [self._client.submit(_answer, prepare, workers=[address], pure=False) for address in addresses]
        return list(self._client.gather(answers))

    def _run(self, function: Callable[..., Any], calls: Iterable[tuple[Any, ...]]) -> list[Any]:
        from joblib import Parallel, delayed

        parallel = Parallel(n_jobs=self._n_jobs, prefer="threads", batch_size=1, pre_dispatch="n_jobs", max_nbytes=None)
        here = delayed(_call)
        with warnings.catch_warnings(), _expect_large_tasks() if self._client is not None else nullcontext():
            warnings.filterwarnings("ignore", RENEWED_WORKER)
            return list(parallel(here(function, *map(self._place, call)) for call in calls))

    def _place(self, argument: Any) -> Any:
        """Return an argument as it is sent: parcels that every worker has are sent by reference."""
        return self._shared.get(argument, argument) if isinstance(argument, Parcel) else argument


def _chosen_backend() -> Any:
    """Return the active joblib backend; None if joblib is not loaded, so that nobody can have chosen one."""
    if "joblib" not in sys.modules:
        return None
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend(prefer="threads")
    return backend


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call the function. Dask has resolved its parcels, unless joblib calls from here because one slot is left."""
    return function(*(argument.result() if hasattr(argument, "result") else argument for argument in arguments))


def _own_version() -> str:
    return version("symbolic-physics-learner")


def _answer(prepare: Callable[[], None]) -> str:
    ignore_ctrl_c()
    prepare()
    return _own_version()


def _errors_of_lost_workers() -> tuple[type[BaseException], ...]:
    distributed = sys.modules.get("distributed")
    of_dask = () if distributed is None else (distributed.KilledWorker, distributed.CancelledError)
    return (BrokenExecutor, CancelledError, *of_dask)


@contextmanager
def _expect_large_tasks() -> Iterator[None]:
    import dask

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": LARGE_TASKS}):
        yield


# ---- clusters ------------------------------------------------------------------------------------


@contextmanager
def use_cluster(address: str) -> Iterator[int]:
    """Run searches inside this context on the cluster of a Dask scheduler; yield how many threads it has."""
    try:
        from distributed import Client
    except ImportError:
        raise SettingError('Clusters need Dask. Install it: pip install "symbolic-physics-learner[cluster]".') from None
    from joblib import parallel_config

    _knock(address)
    client = Client(address, timeout=CONNECT_SECONDS)
    with client:
        n_threads = sum(client.ncores().values())
        if not n_threads:
            raise SettingError(f"The scheduler at {address} has no workers. Start some: dask worker {address}")
        with parallel_config("dask", client=client):
            yield n_threads


def _knock(address: str) -> None:
    """Raise unless something answers at the address; a Dask client would leave threads behind that keep trying."""
    try:
        place = urlsplit(address)
        if place.scheme not in SCHEMES or place.hostname is None or place.port is None:
            raise ValueError("this is not an address")
        socket.create_connection((place.hostname, place.port), timeout=CONNECT_SECONDS).close()
    except (OSError, ValueError) as error:
        raise SettingError(
            f"There is no Dask scheduler at {address!r}: {error}. Start one with `dask scheduler`, and pass its address, such as "
            f"tcp://host:8786."
        ) from None
