"""Random small programs in LLVM text: integer arithmetic of many widths, branches, memory, two inputs."""

from __future__ import annotations

from random import Random

WIDTHS = (1, 3, 8, 16, 32, 33, 64, 65)
BINARY = (
    "add", "sub", "mul", "and", "or", "xor", "add nsw", "shl", "lshr", "ashr", "udiv", "sdiv", "urem", "srem",
)  # fmt: skip
PREDICATES = ("eq", "ne", "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge")
CELLS = 16
CONTENT = "".join(f"\\{17 * i % 256:02x}" for i in range(CELLS))

HEADER = f"""
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
declare i32 @klee_int(ptr)
@a = private constant [2 x i8] c"a\\00"
@b = private constant [2 x i8] c"b\\00"
@cells = global [{CELLS} x i8] c"{CONTENT}"
define i32 @main() {{
entry:
"""


class Generator:
    """Writes one program; `text` gives it with its inputs symbolic or known."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.lines: list[str] = []
        self.values: dict[int, list[str]] = {32: ["%a", "%b"]}
        self.count = 0
        self.label = "entry"
        self.sum = "%a"
        for _ in range(self.random.randint(2, 4)):
            for _ in range(self.random.randint(2, 6)):
                self.statement()
            self.diamond()
        self.lines.append(f"  ret i32 {self.sum}\n}}")

    def text(self, inputs: tuple[int, int] | None) -> str:
        start = [
            f"  %{name} = add i32 0, {inputs[i]}"
            if inputs
            else f"  %{name} = call i32 @klee_int(ptr @{name})"
            for i, name in enumerate("ab")
        ]
        return HEADER + "\n".join([*start, *self.lines]) + "\n"

    def new(self, width: int, text: str) -> str:
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"  {name} = {text}")
        self.values.setdefault(width, []).append(name)
        return name

    def constant(self, width: int) -> str:
        if width == 1:
            return self.random.choice(("true", "false"))
        least, most = -(1 << (width - 1)), (1 << (width - 1)) - 1
        return str(self.random.choice((0, 1, -1, 2, 5, least, most, self.random.randint(least, most))))

    def operand(self, width: int) -> str:
        known = self.values.get(width)
        if known and self.random.random() < 0.75:
            return self.random.choice(known[-4:])
        if self.random.random() < 0.3:
            return self.constant(width)
        return self.converted(width)

    def converted(self, width: int) -> str:
        source = self.random.choice([w for w in self.values if w != width] or [width])
        value = self.random.choice(self.values[source])
        if source == width:
            return value
        cast = "trunc" if source > width else self.random.choice(("zext", "sext"))
        return self.new(width, f"{cast} i{source} {value} to i{width}")

    def compare(self) -> str:
        width = self.random.choice(WIDTHS)
        a, b = self.operand(width), self.operand(width)
        return self.new(1, f"icmp {self.random.choice(PREDICATES)} i{width} {a}, {b}")

    def address(self, size: int) -> str:
        index = self.operand(8)
        masked = self.new(8, f"and i8 {index}, {CELLS - 8 if size > 1 else CELLS - 1}")
        wide = self.new(64, f"zext i8 {masked} to i64")
        self.count += 1
        self.lines.append(
            f"  %p{self.count} = getelementptr inbounds [{CELLS} x i8], ptr @cells, i64 0, i64 {wide}"
        )
        return f"%p{self.count}"

    def statement(self) -> None:
        kind, width = self.random.random(), self.random.choice(WIDTHS)
        if kind < 0.5:
            opcode = self.random.choice(BINARY)
            b = self.operand(width)
            if opcode in ("shl", "lshr", "ashr") and self.random.random() < 0.8:
                b = "false" if width == 1 else str(self.random.randrange(min(width, 1 << (width - 1))))
            elif opcode in ("udiv", "sdiv", "urem", "srem") and self.random.random() < 0.9:
                b = self.new(
                    width, f"or i{width} {b}, {'true' if width == 1 else self.random.choice((1, 2))}"
                )
            result = self.new(width, f"{opcode} i{width} {self.operand(width)}, {b}")
        elif kind < 0.65:
            self.compare()
            return
        elif kind < 0.75:
            condition = self.compare()
            a, b = self.operand(width), self.operand(width)
            result = self.new(width, f"select i1 {condition}, i{width} {a}, i{width} {b}")
        elif kind < 0.85:
            size = self.random.choice((1, 2, 4))
            result = self.new(8 * size, f"load i{8 * size}, ptr {self.address(size)}, align 1")
            width = 8 * size
        elif kind < 0.95:
            size = self.random.choice((1, 2, 4))
            value = self.operand(8 * size)
            self.lines.append(f"  store i{8 * size} {value}, ptr {self.address(size)}, align 1")
            return
        else:
            result = self.converted(width)
        self.add_up(width, result)

    def add_up(self, width: int, value: str) -> None:
        """Let every result count in the exit status."""
        if width != 32:
            cast = "zext" if width < 32 else "trunc"
            value = self.new(32, f"{cast} i{width} {value} to i32")
        product = self.new(32, f"mul i32 {self.sum}, 31")
        self.sum = self.new(32, f"add i32 {product}, {value}")

    def diamond(self) -> None:
        """Branch or switch, do something on each side, join with phis."""
        self.count += 1
        number = self.count
        before = {width: list(names) for width, names in self.values.items()}
        total, switch = self.sum, self.random.random() < 0.3
        labels = [f"L{number}.{i}" for i in range(3 if switch else 2)]
        if switch:
            width = self.random.choice((3, 8, 33))
            value = self.operand(width)
            before = {w: list(names) for w, names in self.values.items()}
            cases = " ".join(f"i{width} {case}, label %{labels[1 + case % 2]}" for case in (0, 1, 2, -1))
            self.lines.append(f"  switch i{width} {value}, label %{labels[0]} [ {cases} ]")
        else:
            condition = self.compare()
            before = {w: list(names) for w, names in self.values.items()}
            self.lines.append(f"  br i1 {condition}, label %{labels[0]}, label %{labels[1]}")
        incoming = []
        for label in labels:
            self.values = {w: list(names) for w, names in before.items()}
            self.sum = total
            self.lines.append(f"{label}:")
            for _ in range(self.random.randint(0, 3)):
                self.statement()
            incoming.append((self.sum, self.operand(8), label))
            self.lines.append(f"  br label %J{number}")
        self.values = before
        self.lines.append(f"J{number}:")
        sums = ", ".join(f"[ {value}, %{label} ]" for value, _, label in incoming)
        bytes_ = ", ".join(f"[ {value}, %{label} ]" for _, value, label in incoming)
        self.sum = self.new(32, f"phi i32 {sums}")
        self.new(8, f"phi i8 {bytes_}")
