/* The nodes and symbols that the passes read, by the slots of their classes. */

#ifndef PTX_OBJECTS_H
#define PTX_OBJECTS_H

#include "../../syntax/native/nodes.h"

static NodeClass ELEMENT = {"Element", {"array", "indices"}};
static NodeClass CAST = {"Cast", {"type", "value"}};
static NodeClass CONDITIONAL = {"Conditional", {"condition", "then", "otherwise"}};
static NodeClass RELOCATION = {"Relocation", {"operator", "values"}};
static NodeClass INITIALIZER_LIST = {"InitializerList", {"items"}};
static NodeClass *const RARE_NODES[] = {&ELEMENT, &CAST, &CONDITIONAL, &RELOCATION, &INITIALIZER_LIST};

static NodeClass REGISTER = {
    "Register", {"name", "is_parameter", "type", "vector", "declarator", "place"}};
static NodeClass VARIABLE = {
    "Variable", {"name", "is_parameter", "space", "declaration", "declarator", "place"}};
static NodeClass LABEL_SYMBOL = {"Label", {"name", "place"}};
static NodeClass PREDEFINED = {"Predefined", {"name"}};
static NodeClass *const SYMBOLS[] = {&REGISTER, &VARIABLE, &LABEL_SYMBOL, &PREDEFINED};

static NodeClass SCOPE = {"Scope", {"parent", "number", "start", "names", "ranges", "numbered"}};
static NodeClass RANGE = {"Range", {"declared", "count"}};
static NodeClass *const SCOPES[] = {&SCOPE, &RANGE};

static NodeClass OPERAND_ACCESS = {"OperandAccess", {"own", "parts", "pair"}};
static NodeClass *const ACCESSES[] = {&OPERAND_ACCESS};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The number of elements that each modifier such as `.v4` stands for. */
static PyObject *vector_lengths;
static PyObject *place_class;
static PyObject *range_count; /* of a declarator */

/* Finds something in a module; false with an exception if it is not there. */
static int is_found(PyObject **found, const char *name, const char *attribute) {
  PyObject *module = PyImport_ImportModule(name);
  if (module == NULL) return 0;
  *found = PyObject_GetAttrString(module, attribute);
  Py_DECREF(module);
  return *found != NULL;
}

/* Finds the classes at the first call: their modules may import this one. */
static int are_classes_known(void) {
  static int known;
  if (known) return 1;
  known = find_node_classes() == 0 && find_classes("ptx_lsp.syntax.nodes", RARE_NODES, COUNT(RARE_NODES)) == 0 &&
          find_classes("ptx_lsp.model.symbols", SYMBOLS, COUNT(SYMBOLS)) == 0 &&
          find_classes("ptx_lsp.model.scope", SCOPES, COUNT(SCOPES)) == 0 &&
          find_classes("ptx_lsp.isa.matching.operand_access", ACCESSES, COUNT(ACCESSES)) == 0 &&
          is_found(&vector_lengths, "ptx_lsp.model.symbols", "VECTOR_LENGTHS") &&
          is_found(&place_class, "ptx_lsp.model.place", "Place") &&
          is_found(&range_count, "ptx_lsp.model.scope", "range_count");
  return known;
}

static inline int is_a(PyObject *object, const NodeClass *class) { return Py_TYPE(object) == class->type; }

#define TEXT_OF(name) get(name, NAME.offsets[0])
#define START_OF(node) get(node, start_offset)
#define TEXT_OF_NUMBER(number) get(number, NUMBER.offsets[0])
#define KIND_OF_NUMBER(number) get(number, NUMBER.offsets[1])
#define VECTOR_OF(register) get(register, REGISTER.offsets[3])

/* A value of a dictionary: a borrowed reference; NULL without an exception if it has none. */
static inline PyObject *look_up(PyObject *dictionary, PyObject *key) {
  return PyDict_GetItemWithError(dictionary, key);
}

static inline int is_number(PyObject *object, long wanted) { return PyLong_AsLong(object) == wanted; }

/* Whether all arguments are there, and a condition on them holds. */
static int are_valid(int condition, const char *function) {
  if (condition) return 1;
  PyErr_Format(PyExc_TypeError, "invalid arguments for %s()", function);
  return 0;
}

#endif
