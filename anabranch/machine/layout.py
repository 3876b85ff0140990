"""Where the globals and functions of the program lie, and with that the values of its constants."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from anabranch.ir.module import Function, GlobalVariable, Module
from anabranch.ir.values import BlockAddress, Zero
from anabranch.machine.memory import Memory
from anabranch.machine.objects import AllocationSite, ObjectNumbers
from anabranch.semantics.constants import Constants
from anabranch.semantics.faults import Unsupported

# A declaration that may stay undefined; its address is then null, as a linker leaves it.
EXTERN_WEAK = "extern_weak"

# Blocks of a function, as labels whose address is taken, lie at this offset of the function's object.
LABEL_OFFSET = 1 << 20


class Layout(Constants):
    """Addresses of globals, functions and labels."""

    def __init__(
        self,
        module: Module,
        numbers: ObjectNumbers,
        external: Mapping[str, bytes],
        provided: Callable[[str], bool],
    ) -> None:
        """`provided` tells which functions and variables without a definition exist all the same."""
        self.module = module
        self._external = external
        self.addresses: dict[str, int] = {}
        self.functions: dict[int, Function] = {}
        self.globals: list[tuple[int, GlobalVariable]] = []
        self._sites: dict[str, AllocationSite] = {}
        for variable in module.globals.values():
            if variable.linkage == EXTERN_WEAK and not (variable.name in external or provided(variable.name)):
                self.addresses[variable.name] = 0
                continue
            kind = "constant" if variable.constant else "global"
            site = numbers.new_site(
                kind, variable.source_name, variable.value_type, variable.loc, ("symbol", variable.name)
            )
            self._lay_out(variable.name, site, numbers, variable.value_type.size)
            self.globals.append((self.addresses[variable.name], variable))
        for function in module.functions.values():
            if function.linkage == EXTERN_WEAK and not provided(function.name):
                self.addresses[function.name] = 0
                continue
            site = numbers.new_site("function", function.name, origin=("symbol", function.name))
            self._lay_out(function.name, site, numbers)
            self.functions[self.addresses[function.name]] = function

    def _lay_out(self, name: str, site: AllocationSite, numbers: ObjectNumbers, size: int = 0) -> None:
        self.addresses[name] = numbers.number(site, 1, size) << 32
        self._sites[name] = site

    def install(self, memory: Memory) -> None:
        """Make all globals and functions objects of the store."""
        for address, variable in self.globals:
            size, site = variable.value_type.size, self._sites[variable.name]
            if isinstance(variable.initializer, Zero) and not variable.constant:
                memory.allocate(site, size, zero=True, base=address)
                continue
            if variable.initializer is not None:
                data = self.image(variable.initializer, size)
            else:
                data = self._external.get(variable.name, b"")[:size].ljust(size, b"\0")
            memory.allocate(site, size, data, base=address)
        for address, function in self.functions.items():
            memory.allocate(self._sites[function.name], 0, b"", base=address)

    def address(self, name: str) -> int:
        address = self.addresses.get(name)
        if address is None:
            aliased = self.module.aliases.get(name)
            if aliased is None:
                raise Unsupported(f"reference to @{name}")
            address = self.addresses[name] = int(self.value(aliased))
        return address

    def label_address(self, label: BlockAddress) -> int:
        function = self.module.functions[label.function]
        index = next(block.index for block in function.blocks if block.name == label.block)
        return self.address(label.function) + LABEL_OFFSET + index
