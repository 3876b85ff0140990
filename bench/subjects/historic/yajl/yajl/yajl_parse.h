#include "api/yajl_parse.h"
