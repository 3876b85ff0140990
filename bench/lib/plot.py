"""Line plots with a logarithmic vertical axis, and bars, written as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 760, 460
LEFT, RIGHT, TOP, BOTTOM = 64, 170, 44, 52
# Colours that stay apart for colour-blind readers; with twelve lines the dashes tell the rest.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
DASHES = ("", "6 3")


@dataclass(frozen=True)
class Line:
    name: str
    points: tuple[tuple[float, float], ...]


def log_plot(title: str, x_label: str, y_label: str, lines: Sequence[Line]) -> str:
    """The text of an SVG file; values have to be positive."""
    xs = [x for line in lines for x, _ in line.points] or [0.0, 1.0]
    ys = [y for line in lines for _, y in line.points] or [1.0]
    low_x, high_x = min(xs), max(max(xs), min(xs) + 1)
    low_y = math.floor(math.log10(min(*ys, 1.0)))
    high_y = max(math.ceil(math.log10(max(ys))), low_y + 1)

    def place(x: float, y: float) -> tuple[float, float]:
        across = (x - low_x) / (high_x - low_x) * (WIDTH - LEFT - RIGHT)
        up = (math.log10(y) - low_y) / (high_y - low_y) * (HEIGHT - TOP - BOTTOM)
        return LEFT + across, HEIGHT - BOTTOM - up

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12" fill="#333">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="24" font-size="15">{escape(title)}</text>',
    ]
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    for power in range(low_y, high_y + 1):
        y = place(low_x, 10.0**power)[1]
        colour = "#888" if power == 0 else "#ddd"
        parts.append(f'<path d="M{LEFT} {y:.1f}H{right}" stroke="{colour}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{_number(power)}</text>')
    for tick in _ticks(low_x, high_x):
        x = place(tick, 1.0)[0]
        parts.append(f'<path d="M{x:.1f} {bottom}v5" stroke="#888"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 19}" text-anchor="middle">{tick}</text>')
    middle = (TOP + bottom) / 2
    parts.append(
        f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{escape(x_label)}</text>'
    )
    parts.append(
        f'<text x="16" y="{middle}" text-anchor="middle" transform="rotate(-90 16 {middle})">'
        f"{escape(y_label)}</text>"
    )
    for number, line in enumerate(lines):
        parts += _drawn(line, number, place, right)
    return "\n".join([*parts, "</svg>"]) + "\n"


def bar_plot(title: str, y_label: str, bars: Sequence[tuple[str, float]], logarithmic: bool) -> str:
    """The text of an SVG file with a bar for each value, from 0, or from 1 on a logarithmic scale."""
    heights = [math.log10(value) if logarithmic else value for _, value in bars]
    low, high = (
        math.floor(min(*heights, 0.0)),
        max(math.ceil(max(heights)), math.floor(min(*heights, 0.0)) + 1),
    )
    right, bottom = WIDTH - 20, HEIGHT - BOTTOM - 30

    def up(height: float) -> float:
        return bottom - (height - low) / (high - low) * (bottom - TOP)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12" fill="#333">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="24" font-size="15">{escape(title)}</text>',
        f'<text x="16" y="{bottom / 2}" text-anchor="middle" transform="rotate(-90 16 {bottom / 2})">'
        f"{escape(y_label)}</text>",
    ]
    for tick in _ticks(low, high):
        text = _number(tick) if logarithmic else str(tick)
        parts.append(f'<path d="M{LEFT} {up(tick):.1f}H{right}" stroke="{"#ddd" if tick else "#888"}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{up(tick) + 4:.1f}" text-anchor="end">{text}</text>')
    width = (right - LEFT) / len(bars)
    for number, ((name, _), height) in enumerate(zip(bars, heights, strict=True)):
        x, top = LEFT + number * width, up(max(height, 0.0))
        parts.append(
            f'<rect x="{x + width / 8:.1f}" y="{top:.1f}" width="{width * 0.75:.1f}" '
            f'height="{abs(up(height) - up(0)):.1f}" fill="{COLOURS[0]}"/>'
        )
        middle = x + width / 2
        parts.append(
            f'<text x="{middle:.1f}" y="{bottom + 14}" text-anchor="end" '
            f'transform="rotate(-60 {middle:.1f} {bottom + 14})">{escape(name)}</text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _drawn(line: Line, number: int, place: object, right: float) -> list[str]:
    assert callable(place)
    colour = COLOURS[number % len(COLOURS)]
    dash = DASHES[number // len(COLOURS) % len(DASHES)]
    style = f'stroke="{colour}" fill="none" stroke-width="2"' + (
        f' stroke-dasharray="{dash}"' if dash else ""
    )
    at = [place(x, y) for x, y in line.points]
    parts = []
    if len(at) > 1:
        parts.append(f'<path d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in at)}" {style}/>')
    parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in at]
    y = TOP + 10 + 20 * number
    parts.append(f'<path d="M{right + 18} {y}h26" {style}/>')
    parts.append(f'<text x="{right + 50}" y="{y + 4}">{escape(line.name)}</text>')
    return parts


def _number(power: int) -> str:
    return f"{10**power:,}" if power >= 0 else f"{10.0**power:.{-power}f}"


def _ticks(low: float, high: float) -> list[int]:
    step = max(1, round((high - low) / 10))
    first = math.ceil(low / step) * step
    return list(range(int(first), int(high) + 1, step))


def write_plot(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
