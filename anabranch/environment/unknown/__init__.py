"""What the program text does not tell: functions without a body, and objects nobody has shown."""

from anabranch.environment.unknown.answers import answers_of, contents_of, scalars_of
from anabranch.environment.unknown.calls import UnknownFunctions
from anabranch.environment.unknown.contents import Contents, Place, UnknownObject
from anabranch.environment.unknown.objects import UnknownObjects, UnknownSettings
from anabranch.environment.unknown.results import Answer
