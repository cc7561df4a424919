/* The module `ptx_lsp.model._core`, see `_core.pyi`: the passes over all names of a function. */

#include "accesses.h"
#include "declarations.h"
#include "shapes.h"
#include "text_words.h"
#include "users.h"

#define FAST(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef methods[] = {
    {"names_in", core_names_in, METH_O, NULL},
    {"range_index", FAST(core_range_index), METH_FASTCALL, NULL},
    {"member", FAST(core_member), METH_FASTCALL, NULL},
    {"find", FAST(core_find), METH_FASTCALL, NULL},
    {"find_here", FAST(core_find_here), METH_FASTCALL, NULL},
    {"declare", FAST(core_declare), METH_FASTCALL, NULL},
    {"declare_all", FAST(core_declare_all), METH_FASTCALL, NULL},
    {"resolve_names", FAST(core_resolve_names), METH_FASTCALL, NULL},
    {"resolve_instructions", FAST(core_resolve_instructions), METH_FASTCALL, NULL},
    {"labels", FAST(core_labels), METH_FASTCALL, NULL},
    {"shapes", FAST(core_shapes), METH_FASTCALL, NULL},
    {"places", core_places, METH_O, NULL},
    {"element_type", core_element_type, METH_O, NULL},
    {"vector_length", core_vector_length, METH_O, NULL},
    {"variable_features", FAST(core_variable_features), METH_FASTCALL, NULL},
    {"words_in", FAST(core_words_in), METH_FASTCALL, NULL},
    {"add_users", FAST(core_add_users), METH_FASTCALL, NULL},
    {"register_number", FAST(core_register_number), METH_FASTCALL, NULL},
    {"register_accesses", FAST(core_register_accesses), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_core", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__core(void) { return PyModule_Create(&module); }
