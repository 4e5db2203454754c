"""The schedule of a search: rounds of episodes, each on the modules of the one before, in batches between two looks at the results."""

from dataclasses import dataclass

FIRST_EPISODES = 50  # of each tree before the first look: people wait for it
BATCH_EPISODES = 500  # of each tree between two looks, at most


@dataclass(frozen=True, slots=True)
class Position:
    """Where a search is: after the last round of a schedule, the next schedule starts without modules."""

    schedule: int = 0
    round: int = 0  # of the schedule
    batch: int = 0  # of the round

    def next_batch(self) -> "Position":
        """Return the position one batch further on."""
        return Position(self.schedule, self.round, self.batch + 1)

    def next_round(self, n_rounds: int) -> "Position":
        """Return the beginning of the next round, in schedules of `n_rounds`.

        Examples:
            >>> Position(round=1, batch=7).next_round(2)
            Position(schedule=1, round=0, batch=0)
        """
        is_last = self.round + 1 == n_rounds
        return Position(self.schedule + 1) if is_last else Position(self.schedule, self.round + 1)


def batch_end(batch: int, n_episodes: int) -> int:
    """Return after how many of the `n_episodes` of a round a batch ends. The first batches are short: much may be found at once.

    Examples:
        >>> [batch_end(batch, 1_000) for batch in range(9)]
        [50, 100, 150, 225, 337, 505, 757, 1000, 1000]
    """
    end = 0
    while batch >= 0 and end < n_episodes:
        end = min(end + max(FIRST_EPISODES, min(end // 2, BATCH_EPISODES)), n_episodes)
        batch -= 1
    return end
