#include "api/yajl_gen.h"
