"""What a function finds when nobody in particular calls it: arguments and globals, lazily initialised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from anabranch import expr
from anabranch.environment import EXTERNAL_GLOBALS
from anabranch.environment.unknown import UnknownObjects
from anabranch.environment.unknown.results import pointer_at
from anabranch.ir.module import ArgAttrs, Function, GlobalVariable, Module
from anabranch.ir.source_types import CType
from anabranch.ir.types import PointerType, Type, VectorType
from anabranch.machine import ModelApi
from anabranch.machine.path import Input
from anabranch.unit.constants import never_written

Value = Any
KIND = "argument"


class Unsupported(Exception):
    """The function takes what cannot be made up; the message says what."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter as LLVM passes it, and what it is in the source: `offset` bytes into the parameter
    `number` (from 0; -1: a result returned through memory), which a struct may share with others."""

    type: Type
    attrs: ArgAttrs | None
    number: int
    name: str
    source: CType | None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Argument:
    """What was passed: the value as LLVM sees it."""

    parameter: Parameter
    value: Value


def parameters(function: Function, prototype: CType | None) -> list[Parameter]:
    """The parameters with their source; structs passed in registers take several of LLVM's."""
    listed = list(zip(function.type.params, function.param_attrs, strict=True))
    names = function.source_parameters
    found: list[Parameter] = []
    position = 0
    if listed and listed[0][1] is not None and listed[0][1].sret is not None:
        found.append(Parameter(*listed[0], -1, "", None))
        position = 1
    for number, source in enumerate(prototype.parameters if prototype is not None else ()):
        name = names.get(number + 1, "") or f"arg{number + 1}"
        offset = 0
        while position < len(listed) and (offset < source.size or not offset):
            type, attrs = listed[position]
            if not source.size and source.kind in ("struct", "union"):
                break
            found.append(Parameter(type, attrs, number, name, source, offset))
            position += 1
            if attrs is not None and attrs.byval is not None:
                break
            offset += max(8, type.size) if source.size > 8 else max(1, source.size)
    if position != len(listed):
        found = [
            Parameter(type, attrs, number, f"arg{number + 1}", None)
            for number, (type, attrs) in enumerate(listed)
        ]
    return found


class UnitInput:
    """Makes the arguments and globals of one function, for one exploration."""

    def __init__(self, function: Function, module: Module, objects: UnknownObjects, null_args: bool) -> None:
        self.function = function
        self.objects = objects
        self.null_args = null_args
        self.prototype = objects.types.function(function.subprogram_id)
        self.parameters = parameters(function, self.prototype)
        self.globals = unknown_globals(module)
        self.arguments: list[Argument] = []

    def __call__(self, api: ModelApi, decide: Callable[[Any], bool]) -> list[Value]:
        """The values to call the function with."""
        layout = self.objects.machine.layout
        for variable in self.globals:
            types, number = self.objects.types, layout.address(variable.name) >> 32
            kind = types.variable(variable.variable_id) or types.by_layout(variable.value_type)
            self.objects.adopt(number, kind, variable.name, ("global", variable.name))
        self.arguments = [
            Argument(parameter, self._value(api, position, parameter))
            for position, parameter in enumerate(self.parameters)
        ]
        return [argument.value for argument in self.arguments]

    def _value(self, api: ModelApi, position: int, parameter: Parameter) -> Value:
        attrs, name = parameter.attrs, parameter.name
        if parameter.offset:
            name = f"{name}.at{parameter.offset}"
        if attrs is not None and attrs.sret is not None:
            return api.allocate(attrs.sret.size, "heap", "result")
        variables: list[expr.Expr] = []
        if isinstance(parameter.type, PointerType):
            value = self._pointer(position, parameter, name, variables)
        else:
            value = self._scalar(parameter.type, name, variables)
        size = sum(variable.w // 8 for variable in variables)
        api.add_input(Input(name, size, tuple(variables), name))
        return value

    def _pointer(self, position: int, parameter: Parameter, name: str, variables: list[expr.Expr]) -> Value:
        source, key = parameter.source, (KIND, position)
        if parameter.attrs is not None and parameter.attrs.byval is not None:
            return self.objects.reserve(source, f"&{name}", key, 1, KIND).address
        found = pointer_at(source, parameter.offset) if source is not None else None
        target = found.target if found is not None else None
        value, more = self.objects.pointer(target, name, key, 1, KIND, null=self.null_args)
        variables += more
        return value

    def _scalar(self, type: Type, name: str, variables: list[expr.Expr]) -> Value:
        if isinstance(type, VectorType):
            return tuple(
                self._scalar(type.element, f"{name}.lane{lane}", variables) for lane in range(type.count)
            )
        made = self.objects.scalar(type, name, KIND)
        if made is None:
            raise Unsupported(f"a parameter of type {type}")
        variables.append(made[1])
        return made[0]


def unknown_globals(module: Module) -> Sequence[GlobalVariable]:
    """Variables that may hold anything when a function is called.

    Not those that nothing ever writes, nor the static variables of functions, which have their first values.
    """
    return [variable for variable in _changeable(module) if not _of_function(variable)]


def first_valued(module: Module) -> Sequence[GlobalVariable]:
    """Static variables of functions: they may hold anything by the time of a call, but have their first
    values."""
    return [variable for variable in _changeable(module) if _of_function(variable)]


def _of_function(variable: GlobalVariable) -> bool:
    return variable.linkage in ("internal", "private") and variable.source_name != variable.name


def _changeable(module: Module) -> list[GlobalVariable]:
    kept = never_written(module)
    return [
        variable
        for variable in module.globals.values()
        if (variable.declaration or not variable.constant)
        and variable.name not in EXTERNAL_GLOBALS
        and variable.name not in kept
        and not variable.name.startswith(("llvm.", "."))
    ]
