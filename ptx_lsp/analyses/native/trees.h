/* Sums of decision trees: `ptx_lsp/analyses/registers/boosted_trees.py` has the definition. */

#ifndef PTX_TREES_H
#define PTX_TREES_H

#include <stdint.h>
#include <string.h>

#include "numbers.h"

/* The number at a place of a model of `size` numbers; -1 with an exception beyond its end. */
static int32_t number_at(const char *model, Py_ssize_t place, Py_ssize_t size) {
  int32_t found = -1;
  if (place >= 0 && place < size) memcpy(&found, model + 4 * place, 4);
  else PyErr_SetString(PyExc_ValueError, "the model is incomplete");
  return found;
}

/* The leaf that a tree leads to; 0 with an exception. */
static int32_t leaf_of(const char *model, Py_ssize_t size, Py_ssize_t root, PyObject *features) {
  Py_ssize_t at = root, feature;
  while ((feature = number_at(model, at, size)) >= 0) {
    if (feature >= PyTuple_Size(features)) {
      PyErr_SetString(PyExc_IndexError, "the model has more features");
      return 0;
    }
    int32_t threshold = number_at(model, at + 1, size);
    Py_ssize_t right = root + number_at(model, at + 2, size);
    Py_ssize_t value = PyLong_AsSsize_t(PyTuple_GetItem(features, feature));
    Py_ssize_t next = value <= threshold ? at + 3 : right;
    if (PyErr_Occurred()) return 0;
    if (next <= at) {
      PyErr_SetString(PyExc_ValueError, "the model has a cycle");
      return 0;
    }
    at = next;
  }
  return PyErr_Occurred() ? 0 : number_at(model, at + 1, size);
}

/* `sum_of_leaves(model, features)` */
static PyObject *sum_of_leaves(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *data, *features;
  if (!PyArg_ParseTuple(args, "SO!:sum_of_leaves", &data, &PyTuple_Type, &features)) return NULL;
  char *model;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(data, &model, &size) < 0) return NULL;
  size /= 4;
  long long total = 0;
  Py_ssize_t count = number_at(model, 0, size);
  for (Py_ssize_t n = 0; n < count && !PyErr_Occurred(); n++)
    total += leaf_of(model, size, number_at(model, n + 1, size), features);
  return PyErr_Occurred() ? NULL : PyLong_FromLongLong(total);
}

#endif
