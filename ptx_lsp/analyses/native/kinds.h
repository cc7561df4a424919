/* The flags of `InstructionKind`, read from its slots. */

#ifndef PTX_KINDS_H
#define PTX_KINDS_H

#include "numbers.h"

typedef struct {
  PyTypeObject *type;
  Py_ssize_t is_pure, reads_carry, writes_carry;
} KindSlots;

/* The slots of the class of `kind`; NULL with an exception if it has others. */
static const KindSlots *kind_slots(PyObject *kind) {
  static KindSlots known;
  PyTypeObject *type = kind == NULL ? NULL : Py_TYPE(kind);
  if (type == NULL) return NULL;
  if (type != known.type) {
    KindSlots found = {NULL, offset_of(type, "is_pure"), -1, -1};
    if (found.is_pure < 0) return NULL;
    if ((found.reads_carry = offset_of(type, "reads_carry")) < 0) return NULL;
    if ((found.writes_carry = offset_of(type, "writes_carry")) < 0) return NULL;
    Py_XDECREF((PyObject *)known.type);
    found.type = (PyTypeObject *)new_reference((PyObject *)type);
    known = found;
  }
  return &known;
}

static inline int flag_at(PyObject *kind, Py_ssize_t offset) { return get(kind, offset) == Py_True; }

#endif
