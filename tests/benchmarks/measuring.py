"""What every benchmark needs: interleaved repetitions, and a ratio with its spread."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

REPEATS = 5


def beside(
    subject: Callable[[], float], floor: Callable[[], float], *, repeats: int = REPEATS
) -> tuple[list[float], list[float]]:
    """Run both in turn; what each returned, e.g. seconds."""
    measured: list[float] = []
    floors: list[float] = []
    for _ in range(repeats):
        floors.append(floor())
        measured.append(subject())
    return measured, floors


def told(name: str, measured: list[float], floors: list[float], unit: str, floor: str) -> None:
    """One line: both medians, their ratio, and the spread of the ratio over the repetitions."""
    ratios = sorted(one / other for one, other in zip(measured, floors, strict=True))
    print(
        f"{name:34} {median(measured):10.4g} {unit:12} {floor}: {median(floors):.4g}; "
        f"ratio {median(ratios):.2f} [{ratios[0]:.2f}-{ratios[-1]:.2f}]",
        flush=True,
    )
