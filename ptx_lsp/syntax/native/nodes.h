/* Creates the nodes of ptx_lsp/syntax/nodes without calling their initialisers: fields are written into the
 * slots of the classes, at offsets that are looked up once. */

#ifndef PTX_NODES_H
#define PTX_NODES_H

#include "slots.h"

enum { MOST_FIELDS = 9 };

typedef struct {
  const char *name;
  const char *fields[MOST_FIELDS + 1];
  PyTypeObject *type;
  Py_ssize_t offsets[MOST_FIELDS];
} NodeClass;

static NodeClass NAME = {"Name", {"text"}};
static NodeClass NUMBER = {"Number", {"text", "kind"}};
static NodeClass STRING = {"String", {"text"}};
static NodeClass MEMBER = {"Member", {"object", "components"}};
static NodeClass UNARY = {"Unary", {"operator", "value"}};
static NodeClass BINARY = {"Binary", {"operator", "left", "right"}};
static NodeClass PAIR = {"Pair", {"left", "right"}};
static NodeClass GROUP = {"Group", {"items"}};
static NodeClass ADDRESS = {"Address", {"items", "suffix"}};
static NodeClass VECTOR = {"Vector", {"items"}};
static NodeClass OPCODE = {"Opcode", {"text", "bank"}};
static NodeClass GUARD = {"Guard", {"negated", "predicate"}};
static NodeClass INSTRUCTION = {"Instruction", {"guard", "opcode", "operands"}};
static NodeClass LABEL = {"Label", {"name"}};
static NodeClass BLOCK = {"Block", {"guard", "statements"}};
static NodeClass DECLARATOR = {"Declarator", {"name", "range", "dimensions", "initializer"}};
static NodeClass DECLARATION = {
    "Declaration",
    {"linkage", "space", "bank", "modifiers", "type_name", "alignment", "attributes", "declarators"}};
static NodeClass DIRECTIVE = {"Directive", {"linkage", "name", "arguments"}};
static NodeClass LOCATION = {"Location", {"file", "line", "column", "attributes"}};
static NodeClass LOCATION_ATTRIBUTE = {"LocationAttribute", {"name", "values"}};
static NodeClass FUNCTION = {
    "Function",
    {"linkage", "kind", "attributes", "returns", "name", "dimensions", "parameters", "directives", "body"}};

static NodeClass *const NODE_CLASSES[] = {
    &NAME,  &NUMBER, &STRING,      &MEMBER, &UNARY, &BINARY,     &PAIR,        &GROUP,     &ADDRESS,  &VECTOR,
    &OPCODE, &GUARD, &INSTRUCTION, &LABEL,  &BLOCK, &DECLARATOR, &DECLARATION, &DIRECTIVE, &LOCATION,
    &LOCATION_ATTRIBUTE, &FUNCTION};

static Py_ssize_t start_offset, end_offset;

/* Whether a class has as many slots as `fields`: one that is left empty would fail much later. */
static int has_only(PyTypeObject *type, Py_ssize_t fields) {
  const PyMemberDef *member = PyType_GetSlot(type, Py_tp_members);
  for (; member != NULL && member->name != NULL; member++) fields--;
  if (fields) PyErr_SetString(PyExc_ImportError, "a class has another slot: build the modules in C again");
  return !fields;
}

/* Looks up classes in a module. */
static int find_classes(const char *name, NodeClass *const *classes, size_t count) {
  PyObject *module = PyImport_ImportModule(name);
  if (module == NULL) return -1;
  int failed = 0;
  for (size_t n = 0; !failed && n < count; n++) {
    NodeClass *class = classes[n];
    class->type = (PyTypeObject *)PyObject_GetAttrString(module, class->name);
    failed = class->type == NULL;
    int field = 0;
    for (; !failed && class->fields[field] != NULL; field++) {
      class->offsets[field] = offset_of(class->type, class->fields[field]);
      failed = class->offsets[field] < 0;
    }
    failed = failed || !has_only(class->type, field);
  }
  Py_DECREF(module);
  return failed ? -1 : 0;
}

/* Looks up the node classes in the module `nodes`. */
static int find_node_classes(void) {
  static NodeClass base = {"Node", {"start", "end"}, NULL, {0}};
  NodeClass *const bases[] = {&base};
  if (find_classes("ptx_lsp.syntax.nodes", bases, 1) < 0) return -1;
  start_offset = base.offsets[0];
  end_offset = base.offsets[1];
  if (!is_ready()) return -1;
  return find_classes("ptx_lsp.syntax.nodes", NODE_CLASSES, sizeof NODE_CLASSES / sizeof *NODE_CLASSES);
}

/* Puts `values`, whose references it takes, into the fields of a new node, also where it fails: NULL is among
 * the values if an exception is set. */
static inline PyObject *new_node(const NodeClass *class, Py_ssize_t start, Py_ssize_t end, PyObject *const *values) {
  PyObject *node = PyType_GenericAlloc(class->type, 0);
  PyObject *first = PyLong_FromSsize_t(start), *last = PyLong_FromSsize_t(end);
  int failed = node == NULL || first == NULL || last == NULL;
  for (int field = 0; class->fields[field] != NULL; field++) {
    if (values[field] == NULL) failed = 1;
    if (node != NULL) set_field(node, class->offsets[field], values[field]);
    else Py_XDECREF(values[field]);
  }
  if (node != NULL) {
    set_field(node, start_offset, first);
    set_field(node, end_offset, last);
  } else {
    Py_XDECREF(first);
    Py_XDECREF(last);
  }
  if (failed) Py_CLEAR(node);
  return node;
}

#define NEW_NODE(class, start, end, ...) new_node(&(class), start, end, (PyObject *const[]){__VA_ARGS__})

/* Puts another object, whose reference it takes, where there was one. */
static inline void replace(PyObject **place, PyObject *object) {
  PyObject *before = *place;
  *place = object;
  Py_XDECREF(before);
}

#endif
