"""A model of a C function: `int read_sensor(int channel)` answers anything from 0 to 1023."""

from anabranch.expr import ule
from anabranch.plugin import model


@model("read_sensor")
def read_sensor(m, channel):
    value = m.fresh("sensor", 32)
    m.assume(ule(value, 1023, 32))
    return value
