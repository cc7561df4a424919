/* The types and features of variables. */

#ifndef PTX_VARIABLES_H
#define PTX_VARIABLES_H

#include "objects.h"

/* As in ptx_lsp/model/instructions/features.py. */
#define IS_VARIABLE (1LL << 21)
#define CALL_PARAMETER (1LL << 29)
#define RECEIVED (1LL << 30)
#define RETURNED (1LL << 31)
#define LARGE_VARIABLE (1LL << 32)

/* The first modifier of a declaration that is a vector length, or that is none: a borrowed reference; NULL
 * without an exception if there is no such modifier. */
static PyObject *first_modifier(PyObject *declaration, int is_length) {
  PyObject *modifiers = get(declaration, DECLARATION.offsets[3]);
  Py_ssize_t count = PyTuple_Size(modifiers);
  for (Py_ssize_t n = 0; n < count; n++) {
    PyObject *text = TEXT_OF(PyTuple_GetItem(modifiers, n));
    int found = PyDict_Contains(vector_lengths, text);
    if (found < 0) return NULL;
    if (found == is_length) return text;
  }
  return NULL;
}

static PyObject *element_type(PyObject *declaration) {
  PyObject *text = first_modifier(declaration, 0);
  if (text != NULL && PyUnicode_CompareWithASCIIString(text, ".ptr")) return new_reference(text);
  return PyErr_Occurred() ? NULL : PyUnicode_FromStringAndSize("", 0);
}

static PyObject *vector_length(PyObject *declaration) {
  PyObject *text = first_modifier(declaration, 1), *length = text == NULL ? NULL : look_up(vector_lengths, text);
  if (length != NULL) return new_reference(length);
  return PyErr_Occurred() ? NULL : PyLong_FromLong(1);
}

static PyObject *core_element_type(PyObject *Py_UNUSED(module), PyObject *declaration) {
  if (!are_classes_known() || !are_valid(is_a(declaration, &DECLARATION), "element_type")) return NULL;
  return element_type(declaration);
}

static PyObject *core_vector_length(PyObject *Py_UNUSED(module), PyObject *declaration) {
  if (!are_classes_known() || !are_valid(is_a(declaration, &DECLARATION), "vector_length")) return NULL;
  return vector_length(declaration);
}

/* -1 with an exception. */
static long long features_of_variable(PyObject *symbol, PyObject *received, PyObject *returned) {
  PyObject *declaration = get(symbol, VARIABLE.offsets[3]), *declarator = get(symbol, VARIABLE.offsets[4]);
  PyObject *name = get(symbol, VARIABLE.offsets[0]);
  long long found = IS_VARIABLE;
  if (PyTuple_Size(get(declarator, DECLARATOR.offsets[2])) || get(declarator, DECLARATOR.offsets[1]) != Py_None ||
      first_modifier(declaration, 1) != NULL || get(declaration, DECLARATION.offsets[5]) != Py_None)
    found |= LARGE_VARIABLE;
  if (PyUnicode_CompareWithASCIIString(get(symbol, VARIABLE.offsets[2]), ".param") == 0) {
    if (get(symbol, VARIABLE.offsets[1]) != Py_True) found |= CALL_PARAMETER;
    int is_received = PySet_Contains(received, name), is_returned = PySet_Contains(returned, name);
    if (is_received < 0 || is_returned < 0) return -1;
    if (is_received) found |= RECEIVED;
    if (is_returned) found |= RETURNED;
  }
  return PyErr_Occurred() ? -1 : found;
}

static PyObject *core_variable_features(PyObject *Py_UNUSED(module), PyObject *const *given, Py_ssize_t count) {
  if (!are_classes_known() || !are_valid(count == 3 && is_a(given[0], &VARIABLE), "variable_features")) return NULL;
  long long found = features_of_variable(given[0], given[1], given[2]);
  return found < 0 ? NULL : PyLong_FromLongLong(found);
}

#endif
