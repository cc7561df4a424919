/* The instructions that define and read registers: `analyses/registers/definitions.py` defines them. */

#ifndef PTX_DEFINITIONS_H
#define PTX_DEFINITIONS_H

#include "numbers.h"

enum { NEVER = -1, SEVERAL = -2 };

/* Adds an instruction to the list of a register in a dictionary; `known` is the one before it, if not negative. */
static int add_definition(PyObject *several, PyObject *register_, Py_ssize_t known, Py_ssize_t number) {
  PyObject *list = PyDict_GetItemWithError(several, register_);
  if (list == NULL) {
    if (PyErr_Occurred()) return 0;
    list = known >= 0 ? Py_BuildValue("[n]", known) : PyList_New(0);
    int failed = list == NULL || PyDict_SetItem(several, register_, list) < 0;
    Py_XDECREF(list); /* the dictionary has it */
    if (failed) return 0;
  }
  return appended(list, PyLong_FromSsize_t(number));
}

static PyObject *definitions(PyObject *Py_UNUSED(module), PyObject *arguments) {
  PyObject *lists[2], *found = NULL;
  Py_ssize_t count;
  if (!PyArg_ParseTuple(arguments, "O!O!n", &PyList_Type, &lists[0], &PyList_Type, &lists[1], &count)) return NULL;
  Py_ssize_t end = PyList_Size(lists[0]);
  if (!are_lists_with(lists, 2, 0, end)) return NULL;
  Py_ssize_t *only = count < 0 ? NULL : zeroed(count, sizeof *only);
  PyObject *several = PyDict_New();
  for (Py_ssize_t n = 0; n < count && only != NULL; n++) only[n] = NEVER;
  int failed = only == NULL || several == NULL;
  for (Py_ssize_t number = 0; number < end && !failed; number++) {
    PyObject *defs = PyList_GetItem(lists[0], number);
    Py_ssize_t size = PyTuple_Size(defs), is_partial = size ? PyTuple_Size(PyList_GetItem(lists[1], number)) != 0 : 0;
    failed = size < 0;
    for (Py_ssize_t n = 0; n < size && !failed; n++) {
      PyObject *name = PyTuple_GetItem(defs, n);
      Py_ssize_t register_ = index_in(name, count);
      if (register_ < 0) failed = 1;
      else if (only[register_] == NEVER && !is_partial) only[register_] = number;
      else {
        failed = !add_definition(several, name, only[register_], number);
        only[register_] = SEVERAL;
      }
    }
  }
  if (!failed && !PyErr_Occurred()) found = Py_BuildValue("NO", list_of_numbers(only, count), several);
  else if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "the number of registers is negative");
  Py_XDECREF(several);
  PyMem_Free(only);
  return found;
}

/* The instructions that read each of some registers. */
static PyObject *readers(PyObject *Py_UNUSED(module), PyObject *arguments) {
  PyObject *uses, *registers;
  Py_ssize_t count;
  if (!PyArg_ParseTuple(arguments, "O!O!n", &PyList_Type, &uses, &PyList_Type, &registers, &count)) return NULL;
  Py_ssize_t end = PyList_Size(uses), wanted = PyList_Size(registers);
  PyObject **lists = zeroed(count < 0 ? 0 : count, sizeof *lists); /* by register: borrowed */
  PyObject *found = PyDict_New();
  int failed = lists == NULL || found == NULL;
  for (Py_ssize_t n = 0; n < wanted && !failed; n++) {
    PyObject *name = PyList_GetItem(registers, n);
    Py_ssize_t register_ = index_in(name, count);
    if (register_ >= 0 && lists[register_] != NULL) continue;
    PyObject *list = register_ < 0 ? NULL : PyList_New(0);
    failed = list == NULL || PyDict_SetItem(found, name, list) < 0;
    if (!failed) lists[register_] = list;
    Py_XDECREF(list); /* the dictionary has it */
  }
  for (Py_ssize_t number = 0; number < end && wanted && !failed; number++) {
    PyObject *used = PyList_GetItem(uses, number);
    Py_ssize_t size = PyTuple_Size(used);
    failed = size < 0;
    for (Py_ssize_t n = 0; n < size && !failed; n++) {
      Py_ssize_t register_ = index_in(PyTuple_GetItem(used, n), count);
      failed = register_ < 0 || (lists[register_] != NULL && !appended(lists[register_], PyLong_FromSsize_t(number)));
    }
  }
  if (failed) Py_CLEAR(found);
  PyMem_Free(lists);
  return found;
}

#endif
