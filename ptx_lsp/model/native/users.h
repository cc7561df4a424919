/* The symbols that names refer to (ptx_lsp/model/instructions/uses.py). */

#ifndef PTX_USERS_H
#define PTX_USERS_H

#include "objects.h"

/* What identifies a symbol: the registers of a range are one. A borrowed reference. */
static PyObject *identity_of(PyObject *symbol) {
  if (is_a(symbol, &REGISTER)) return get(symbol, REGISTER.offsets[4]);
  return is_a(symbol, &VARIABLE) ? get(symbol, VARIABLE.offsets[4]) : symbol;
}

/* Whether a name that begins at `start` is in the declaration of its symbol; -1 with an exception. */
static int is_declaration(PyObject *symbol, PyObject *start) {
  PyObject *place = is_a(symbol, &REGISTER)   ? new_reference(get(symbol, REGISTER.offsets[5]))
                    : is_a(symbol, &VARIABLE) ? new_reference(get(symbol, VARIABLE.offsets[5]))
                                              : PyObject_GetAttrString(symbol, "place");
  PyObject *declared = place != NULL && PyTuple_Check(place) ? PyTuple_GetItem(place, 1) : NULL;
  int found = declared == NULL ? -1 : PyObject_RichCompareBool(declared, start, Py_EQ);
  Py_XDECREF(place);
  if (found < 0 && !PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a symbol without a place");
  return found;
}

static PyObject *core_add_users(PyObject *Py_UNUSED(module), PyObject *const *given, Py_ssize_t count) {
  if (!are_classes_known() || !are_valid(count == 4 && PyDict_Check(given[3]), "add_users")) return NULL;
  PyObject *identities = given[0], *starts = given[1], *symbols = given[2], *start, *symbol;
  Py_ssize_t position = 0;
  while (PyDict_Next(given[3], &position, &start, &symbol)) {
    if (is_a(symbol, &PREDEFINED)) continue;
    int is_known = PySet_Contains(identities, identity_of(symbol));
    if (!is_known) is_known = is_declaration(symbol, start);
    if (is_known < 0) return NULL;
    if (!is_known && (PySet_Add(identities, identity_of(symbol)) < 0 || PyList_Append(starts, start) < 0 ||
                      PyList_Append(symbols, symbol) < 0))
      return NULL;
  }
  return NONE;
}

#endif
