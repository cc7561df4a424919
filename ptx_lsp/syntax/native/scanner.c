/* The module `ptx_lsp.syntax._scanner`, see `_scanner.pyi`.
 *
 * It reads regular statements of a text without a tree: plain instructions, labels, `.loc` and declarations, and
 * functions made of them. A statement that is read here has the nodes that lowering its tree gives, and no
 * problems. Any other text, such as an expression, a comment inside a statement or an error, is not read, and
 * the tree decides. `tests/properties/test_scanner.py` compares both. */

#include "functions.h"

/* The bytes of a text that has one character per byte, and what keeps them alive; NULL with an exception if it
 * has others. */
static const char *bytes_of(PyObject *text, PyObject **owner, Py_ssize_t *size) {
  PyObject *ascii = PyObject_CallMethod(text, "isascii", NULL);
  if (ascii == NULL) return NULL;
  Py_DECREF(ascii);
  if (ascii == Py_True) { /* its own bytes; for another text Python would store a second one with it */
    *owner = new_reference(text);
    return PyUnicode_AsUTF8AndSize(text, size);
  }
  char *bytes;
  *owner = PyUnicode_AsLatin1String(text);
  return *owner != NULL && PyBytes_AsStringAndSize(*owner, &bytes, size) == 0 ? bytes : NULL;
}

/* Differences of offsets do not overflow then. */
static const Py_ssize_t MOST_BASE = PY_SSIZE_T_MAX / 2;

/* There is no initialiser: called again, it would take the text away from a call that reads it. */
static PyObject *scanner_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"text", "base", NULL};
  PyObject *text;
  Py_ssize_t base = 0;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!|n", names, &PyUnicode_Type, &text, &base)) return NULL;
  if (base < -MOST_BASE || base > MOST_BASE) {
    PyErr_SetString(PyExc_ValueError, "the base is too far away");
    return NULL;
  }
  Scanner *s = (Scanner *)PyType_GenericAlloc(type, 0);
  if (s == NULL) return NULL;
  s->base = base;
  s->text = bytes_of(text, &s->owner, &s->size);
  if (s->text == NULL) {
    Py_DECREF(s);
    return NULL;
  }
  s->unclosed = s->size;
  return (PyObject *)s;
}

static void scanner_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  Py_XDECREF(((Scanner *)self)->owner);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyObject *found_or_none(PyObject *found) {
  return found == NULL && !PyErr_Occurred() ? NONE : found;
}

static PyObject *scanner_statement(PyObject *self, PyObject *argument) {
  Py_ssize_t position = PyLong_AsSsize_t(argument);
  if (position == -1 && PyErr_Occurred()) return NULL;
  if (position < 0) {
    PyErr_SetString(PyExc_ValueError, "the offset is negative");
    return NULL;
  }
  if (position > ((Scanner *)self)->size) return NONE;
  return found_or_none(statement_node((Scanner *)self, position));
}

static PyObject *scanner_functions(PyObject *self, PyObject *Py_UNUSED(argument)) {
  Scanner *s = (Scanner *)self;
  Py_ssize_t base = s->base, start = find_function(s, 0);
  PyObject *found = PyList_New(0);
  while (found != NULL && start >= 0) {
    s->passed = start;
    PyObject *node = function_node(s, start);
    if (node != NULL) appended(found, Py_BuildValue("nnN", start, s->end, node));
    if (PyErr_Occurred()) break;
    start = find_function(s, node != NULL ? next_line(s, s->end) : line_behind(s, start, s->passed));
  }
  s->base = base;
  if (!PyErr_Occurred()) return found;
  Py_XDECREF(found);
  return NULL;
}

static PyObject *scanner_end(PyObject *self, void *Py_UNUSED(closure)) {
  return PyLong_FromSsize_t(((Scanner *)self)->end);
}

static PyObject *forget_strings(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(argument)) {
  clear_table();
  return NONE;
}

static PyMethodDef functions[] = {
    {"forget_strings", forget_strings, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};

static PyMethodDef methods[] = {
    {"statement", scanner_statement, METH_O, NULL},
    {"functions", scanner_functions, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef properties[] = {{"end", scanner_end, NULL, NULL, NULL}, {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Reads regular statements of a text."},
    {Py_tp_new, scanner_new},
    {Py_tp_dealloc, scanner_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL}};

static PyType_Spec scanner_type = {
    "ptx_lsp.syntax._scanner.Scanner", sizeof(Scanner), 0, Py_TPFLAGS_DEFAULT, slots};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_scanner", NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__scanner(void) {
  classify();
  if (find_node_classes() < 0) return NULL;
  PyObject *found = PyModule_Create(&module);
  PyObject *type = found == NULL ? NULL : PyType_FromSpec(&scanner_type);
  if (type == NULL || PyModule_AddObjectRef(found, "Scanner", type) < 0) Py_CLEAR(found);
  Py_XDECREF(type);
  return found;
}
