/* References to objects, and the slots of classes that are written in Python. */

#ifndef PTX_SLOTS_H
#define PTX_SLOTS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>
#include <structmember.h>

static PyObject *no_items; /* () */

/* Creates `no_items`; false with an exception. */
static int is_ready(void) {
  if (no_items == NULL) no_items = PyTuple_New(0);
  return no_items != NULL;
}

static inline PyObject *new_reference(PyObject *object) {
  Py_INCREF(object);
  return object;
}

#define NONE new_reference(Py_None)
#define NO_ITEMS new_reference(no_items)

/* A tuple of what a list has; takes the reference. */
static inline PyObject *frozen(PyObject *list) {
  if (list == NULL) return NULL;
  PyObject *found = PyList_Size(list) ? PyList_AsTuple(list) : NO_ITEMS;
  Py_DECREF(list);
  return found;
}

/* Appends an object, whose reference it takes; false if that fails or `object` is NULL. */
static inline int appended(PyObject *list, PyObject *object) {
  if (object == NULL) return 0;
  int failed = PyList_Append(list, object);
  Py_DECREF(object);
  return !failed;
}

/* The offset of a slot of a class; -1 with an exception if it has none of that name. */
static Py_ssize_t offset_of(PyTypeObject *type, const char *field) {
  const PyMemberDef *member = PyType_GetSlot(type, Py_tp_members);
  for (; member != NULL && member->name != NULL; member++)
    if (!strcmp(member->name, field) && member->type == T_OBJECT_EX) return member->offset;
  PyErr_Format(PyExc_ImportError, "a class has no slot `%s`: build the modules in C again", field);
  return -1;
}

/* What a slot has: a borrowed reference. */
static inline PyObject *get(PyObject *object, Py_ssize_t offset) { return *(PyObject **)((char *)object + offset); }

static inline void set_field(PyObject *object, Py_ssize_t offset, PyObject *value) {
  *(PyObject **)((char *)object + offset) = value;
}

#endif
