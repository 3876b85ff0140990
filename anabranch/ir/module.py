"""Module, Function, Block, Instruction: what the reader makes and everything else works on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from anabranch.ir.debug import DebugInfo, DebugLoc, SourceVariable, Subprogram
from anabranch.ir.lexer import words
from anabranch.ir.types import FunctionType, StructType, Type
from anabranch.ir.values import Local, Operand

NO_FLAGS: frozenset[str] = frozenset()
TERMINATORS = words(
    "ret br switch indirectbr invoke callbr resume unreachable cleanupret catchret catchswitch"
)


@dataclass(frozen=True, slots=True)
class ArgAttrs:
    """Attributes of a parameter, an argument or a returned value."""

    names: frozenset[str]
    byval: Type | None = None
    sret: Type | None = None
    align: int | None = None


@dataclass(frozen=True, slots=True)
class CallInfo:
    """What a call knows beyond its operands: the callee's type as seen here, and attributes of this call."""

    function_type: FunctionType
    arg_attrs: tuple[ArgAttrs | None, ...]
    attributes: frozenset[str] = NO_FLAGS


@dataclass(slots=True, eq=False)
class Instruction:
    """One instruction; `extra` depends on the opcode (see the package's README)."""

    opcode: str
    type: Type
    operands: tuple[Operand, ...]
    targets: tuple[int, ...] = ()
    flags: frozenset[str] = NO_FLAGS
    extra: object = None
    result: Local | None = field(init=False, default=None)
    loc: DebugLoc | None = field(init=False, default=None)
    text_line: int = field(init=False, default=0)
    """Line of the module's text, counted from 1."""

    @property
    def is_terminator(self) -> bool:
        return self.opcode in TERMINATORS

    def __repr__(self) -> str:
        head = f"{self.result!r} = " if self.result is not None else ""
        more = f" ->{list(self.targets)}" if self.targets else ""
        return f"{head}{self.opcode} {list(self.operands)}{more}"


@dataclass(slots=True, eq=False)
class Block:
    name: str
    index: int
    instructions: list[Instruction] = field(init=False, default_factory=list)

    def __repr__(self) -> str:
        return f"<block {self.index} %{self.name}>"


@dataclass(slots=True, eq=False)
class Function:
    """A function; `blocks` is read from the text on first use (IRError if it is malformed)."""

    name: str
    type: FunctionType
    params: tuple[Local, ...]
    param_attrs: tuple[ArgAttrs | None, ...]
    linkage: str
    attributes: frozenset[str]
    _debug: DebugInfo
    subprogram_id: str | None
    _read_body: Callable[[Function], list[Block]] | None
    return_attrs: ArgAttrs | None
    section: str | None
    body_lines: Callable[[], list[str]]
    """The lines of the body's text."""
    local_count: int = field(init=False)
    """Number of locals, parameters included; final once `blocks` has been read."""
    _blocks: list[Block] | None = field(init=False, default=None)
    _param_names: tuple[str, ...] | None = field(init=False, default=None)
    _variables: dict[int, SourceVariable] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.local_count = len(self.params)

    @property
    def is_declaration(self) -> bool:
        return self._read_body is None

    @property
    def vararg(self) -> bool:
        return self.type.vararg

    @property
    def blocks(self) -> list[Block]:
        """The blocks, entry first; empty for a declaration."""
        if self._blocks is None:
            self._blocks = [] if self._read_body is None else self._read_body(self)
        return self._blocks

    @property
    def noreturn(self) -> bool:
        return "noreturn" in self.attributes

    @property
    def subprogram(self) -> Subprogram | None:
        """Source name, file and line, where the debug information has them."""
        return None if self.subprogram_id is None else self._debug.subprogram(self.subprogram_id)

    @property
    def param_names(self) -> tuple[str, ...]:
        """Source name of every parameter, "" where unknown (also where the ABI splits one in two)."""
        if self._param_names is None:
            count = len(self.params)
            hidden = sum(attrs is not None and attrs.sret is not None for attrs in self.param_attrs)
            names: dict[int, str] = {}
            if self.subprogram_id is not None:
                names = self._debug.parameter_names(self.subprogram_id)
                # Source and LLVM count differently where a struct is passed in two registers.
                in_source = {self._debug.parameter_count(self.subprogram_id), max(names, default=0)}
                if count - hidden not in in_source:
                    names = {}
            self._param_names = tuple(names.get(i + 1 - hidden, "") for i in range(count))
        return self._param_names

    @property
    def source_parameters(self) -> dict[int, str]:
        """Names of the parameters in the source, by number from 1, however LLVM passes them."""
        return {} if self.subprogram_id is None else self._debug.parameter_names(self.subprogram_id)

    @property
    def variables(self) -> dict[int, SourceVariable]:
        """Index of a local -> the source variable it holds, or whose address it is, where debug records
        say."""
        if self._variables is None:
            locals_ = [*self.params, *(i.result for b in self.blocks for i in b.instructions if i.result)]
            self._variables = self._debug.local_variables(self.body_lines(), locals_)
        return self._variables

    @property
    def variable_names(self) -> dict[int, str]:
        return {index: variable.name for index, variable in self.variables.items()}

    def __repr__(self) -> str:
        return f"<function @{self.name}>"


@dataclass(slots=True, eq=False)
class GlobalVariable:
    """A global variable; `initializer` is read on first use."""

    name: str
    value_type: Type
    constant: bool
    linkage: str
    _debug: DebugInfo
    _read_initializer: Callable[[], Operand] | None
    thread_local: bool
    declaration: bool = field(init=False)
    align: int = field(init=False)
    section: str | None = field(init=False, default=None)
    variable_id: str | None = field(init=False, default=None)
    _initializer: Operand | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.declaration = self._read_initializer is None
        self.align = self.value_type.align

    @property
    def initializer(self) -> Operand | None:
        """The initial value; None for a declaration."""
        if self._initializer is None and self._read_initializer is not None:
            self._initializer = self._read_initializer()
            self._read_initializer = None
        return self._initializer

    def _source(self) -> SourceVariable | None:
        return None if self.variable_id is None else self._debug.variable(self.variable_id)

    @property
    def loc(self) -> tuple[str, int] | None:
        """(file, line) of the declaration."""
        source = self._source()
        return None if source is None or not source.file else (source.file, source.line)

    @property
    def source_name(self) -> str:
        """Name in the source; the name of the symbol where unknown."""
        source = self._source()
        return source.name if source is not None and source.name else self.name

    def __repr__(self) -> str:
        return f"<global @{self.name}>"


@dataclass(slots=True)
class Module:
    """A whole program. Dictionaries are in the order of the text."""

    debug: DebugInfo
    functions: dict[str, Function] = field(default_factory=dict)
    globals: dict[str, GlobalVariable] = field(default_factory=dict)
    aliases: dict[str, Operand] = field(default_factory=dict)
    ifuncs: dict[str, Operand] = field(default_factory=dict)
    """Name -> resolver."""
    types: dict[str, StructType] = field(default_factory=dict)
    triple: str = ""
    data_layout: str = ""
    source_filename: str = ""
    assembly: list[str] = field(default_factory=list)
    """Lines of file-scope assembly."""

    def defined_functions(self) -> list[Function]:
        return [f for f in self.functions.values() if not f.is_declaration]

    def read_all(self) -> None:
        """Read every body and initialiser now, so that malformed text shows."""
        for function in self.functions.values():
            _ = function.blocks
        for variable in self.globals.values():
            _ = variable.initializer
