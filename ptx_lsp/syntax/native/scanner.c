/* The module `ptx_lsp.syntax._scanner`, see `_scanner.pyi`.
 *
 * It reads regular statements of a text without a tree: plain instructions, labels, `.loc` and declarations, and
 * functions made of them. A statement that is read here has the nodes that lowering its tree gives, and no
 * problems. Any other text, such as an expression, a comment inside a statement or an error, is not read, and
 * the tree decides. `tests/properties/test_scanner.py` compares both. */

#include "functions.h"

static int scanner_init(PyObject *self, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"text", "base", NULL};
  Scanner *s = (Scanner *)self;
  PyObject *text;
  Py_ssize_t base = 0, size;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "U|n", names, &text, &base)) return -1;
  const char *data = PyUnicode_AsUTF8AndSize(text, &size);
  if (data == NULL) PyErr_Clear();
  if (data != NULL && size == PyUnicode_GetLength(text)) { /* ASCII: its own bytes */
    Py_INCREF(text);
  } else {
    text = PyUnicode_AsLatin1String(text);
    char *bytes;
    if (text == NULL || PyBytes_AsStringAndSize(text, &bytes, &size) < 0) {
      Py_XDECREF(text);
      return -1;
    }
    data = bytes;
  }
  replace(&s->owner, text);
  s->text = data;
  s->size = s->unclosed = size;
  s->base = base;
  s->end = 0;
  s->brace = 0;
  return 0;
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
  return found_or_none(statement_node((Scanner *)self, position));
}

static PyObject *scanner_functions(PyObject *self, PyObject *Py_UNUSED(argument)) {
  Scanner *s = (Scanner *)self;
  PyObject *found = PyList_New(0);
  if (found == NULL) return NULL;
  Py_ssize_t start = find_function(s, 0, 1);
  while (start >= 0) {
    PyObject *node = function_node(s, start);
    if (node == NULL && PyErr_Occurred()) break;
    if (node == NULL) {
      start = find_function(s, start, 0);
      continue;
    }
    if (!appended(found, Py_BuildValue("nnN", start, s->end, node))) break;
    Py_ssize_t end = s->end;
    start = find_function(s, end, at(s, end - 1) == '\n');
  }
  if (!PyErr_Occurred()) return found;
  Py_DECREF(found);
  return NULL;
}

static PyObject *scanner_end(PyObject *self, void *Py_UNUSED(closure)) {
  return PyLong_FromSsize_t(((Scanner *)self)->end);
}

static PyMethodDef methods[] = {
    {"statement", scanner_statement, METH_O, NULL},
    {"functions", scanner_functions, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef properties[] = {{"end", scanner_end, NULL, NULL, NULL}, {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Reads regular statements of a text."},
    {Py_tp_init, scanner_init},
    {Py_tp_dealloc, scanner_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL}};

static PyType_Spec scanner_type = {
    "ptx_lsp.syntax._scanner.Scanner", sizeof(Scanner), 0, Py_TPFLAGS_DEFAULT, slots};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_scanner", NULL, -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__scanner(void) {
  classify();
  if (find_node_classes() < 0) return NULL;
  PyObject *found = PyModule_Create(&module);
  PyObject *type = found == NULL ? NULL : PyType_FromSpec(&scanner_type);
  if (type == NULL || PyModule_AddObjectRef(found, "Scanner", type) < 0) Py_CLEAR(found);
  Py_XDECREF(type);
  return found;
}
