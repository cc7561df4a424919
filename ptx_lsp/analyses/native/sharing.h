/* The virtual registers that registers share: `ptx_lsp/analyses/registers/shared_registers.py` has the definition. */

#ifndef PTX_SHARING_H
#define PTX_SHARING_H

#include "definitions.h"
#include "machine_block.h"

/* What a register shares with the only source of its definition, as `Sharing` in Python. */
enum {
  ITS_OWN = 1, NOTHING, PACKED, UNPACKED, SAME_SIZE, WHOLE, IN_REGISTERS, SCALED, WIDENED, NARROWED, UPPER_MOVED, LOWER,
  UPPER, MOST_SHARING = UPPER
};

enum { COPY_DEPTH = 100 };

typedef struct {
  char how, is_open; /* 0 once the register has its value; whether that is being found */
  PyObject *readers; /* the kinds that may read it with the places among their uses; NULL for all */
  PyObject *parts;   /* what is packed */
} Rule;

typedef struct {
  PyObject *lists[3]; /* the uses, definitions and kinds of the instructions */
  PyObject *only, *allocated, *values, *is_eliminated;
  const Readers *readers;
  Py_ssize_t registers, end, depth;
  Rule *rules; /* by register */
} SharedRegisters;

static PyObject *words_shared(SharedRegisters *shared, Py_ssize_t register_, const Rule *rule);

/* Gives a register its virtual registers, which makes its definition superfluous; takes the reference. */
static int set_shared(SharedRegisters *shared, Py_ssize_t register_, PyObject *words) {
  if (words == NULL) return 0;
  Py_ssize_t number = PyLong_AsSsize_t(PyList_GetItem(shared->only, register_));
  PyByteArray_AsString(shared->is_eliminated)[number] = 1;
  return PyList_SetItem(shared->values, register_, words) == 0;
}

/* The virtual registers of a register: a borrowed reference; NULL with an exception. */
static PyObject *shared_value(SharedRegisters *shared, Py_ssize_t register_) {
  Rule *rule = shared->rules + register_;
  if (rule->how) {
    PyObject *found = NULL;
    if (!rule->is_open && shared->depth < COPY_DEPTH) {
      rule->is_open = 1; /* a value that depends on itself gets its own register */
      shared->depth++;
      found = words_shared(shared, register_, rule);
      shared->depth--;
      rule->is_open = 0;
    }
    if (rule->how && found != NULL) set_shared(shared, register_, found);
    else Py_XDECREF(found); /* it was found in the meantime, through itself */
    rule->how = 0;
    if (PyErr_Occurred()) return NULL;
  }
  PyObject *words = PyList_GetItem(shared->values, register_);
  if (words == NULL || PyTuple_Check(words)) return words;
  PyErr_SetString(PyExc_TypeError, "virtual registers are a tuple");
  return NULL;
}

/* The virtual registers of a register with at most one definition: a borrowed reference; else NULL, or with an
 * exception. */
static PyObject *single_definition(SharedRegisters *shared, Py_ssize_t register_) {
  Py_ssize_t only = register_ < 0 ? SEVERAL : PyLong_AsSsize_t(PyList_GetItem(shared->only, register_));
  return only == SEVERAL ? NULL : shared_value(shared, register_);
}

/* `size` virtual registers, of which the first are those of `words` from `first` on, and the others none. */
static PyObject *part_of(PyObject *words, Py_ssize_t first, Py_ssize_t size) {
  Py_ssize_t held = words == NULL ? 0 : PyTuple_Size(words);
  if (!size) return NO_ITEMS;
  PyObject *found = PyTuple_New(size);
  for (Py_ssize_t n = 0; n < size && found != NULL; n++) {
    int is_word = first + n < held;
    PyObject *word = is_word ? new_reference(PyTuple_GetItem(words, first + n)) : PyLong_FromLong(NO_REGISTER);
    if (word == NULL) Py_CLEAR(found);
    else PyTuple_SetItem(found, n, word);
  }
  return found;
}

/* One of the virtual registers as the lower half of two, or else as the upper one. */
static PyObject *half_of(PyObject *words, Py_ssize_t word, int is_lower) {
  Py_ssize_t number = PyLong_AsSsize_t(PyTuple_GetItem(words, word));
  Py_ssize_t halves[2] = {is_lower ? number : NO_REGISTER, is_lower ? NO_REGISTER : number};
  return PyErr_Occurred() ? NULL : tuple_of_numbers(halves, 2);
}

static int holds_words(PyObject *words) {
  for (Py_ssize_t n = PyTuple_Size(words); n-- > 0;)
    if (PyLong_AsSsize_t(PyTuple_GetItem(words, n)) != NO_REGISTER) return 1;
  return 0;
}

/* Whether only instructions of the given kinds read a register, at the given places among their uses. */
static int is_read_by(const SharedRegisters *shared, Py_ssize_t register_, PyObject *kinds) {
  const Readers *readers = shared->readers;
  for (Py_ssize_t at = readers->starts[register_]; at < readers->starts[register_ + 1]; at++) {
    Py_ssize_t number = readers->instructions[at], size;
    PyObject *places = PyDict_GetItemWithError(kinds, PyList_GetItem(shared->lists[2], number));
    PyObject *uses = PyList_GetItem(shared->lists[0], number);
    char *may_be;
    if (places == NULL) return 0;
    if (places == Py_None) continue;
    if (PyBytes_AsStringAndSize(places, &may_be, &size) < 0) return 0;
    for (Py_ssize_t n = PyTuple_Size(uses); n-- > 0;)
      if (PyLong_AsSsize_t(PyTuple_GetItem(uses, n)) == register_ && (n >= size || !may_be[n])) return 0;
  }
  return 1;
}

/* The virtual registers of all parts, if they are `size`; else NULL, or with an exception. */
static PyObject *packed_words(SharedRegisters *shared, PyObject *parts, Py_ssize_t size) {
  Py_ssize_t count = PyTuple_Size(parts), held = 0;
  PyObject *found = size < 2 || count < 0 ? NULL : PyTuple_New(size);
  for (Py_ssize_t n = 0; n < count && found != NULL; n++) {
    Py_ssize_t part = PyLong_AsSsize_t(PyTuple_GetItem(parts, n));
    int is_constant = part == NO_REGISTER && !PyErr_Occurred();
    if (!is_constant) part = index_in(PyTuple_GetItem(parts, n), shared->registers);
    PyObject *words = is_constant ? part_of(NULL, 0, 1) : single_definition(shared, part);
    Py_ssize_t more = words == NULL ? size + 1 : PyTuple_Size(words);
    for (Py_ssize_t word = 0; word < more && held + more <= size; word++)
      PyTuple_SetItem(found, held + word, new_reference(PyTuple_GetItem(words, word)));
    if (is_constant) Py_XDECREF(words);
    if ((held += more) > size) Py_CLEAR(found);
  }
  if (held != size) Py_CLEAR(found);
  return found;
}

/* The part of the `words` that are unpacked which a register gets. */
static PyObject *unpacked_words(Py_ssize_t register_, PyObject *defs, PyObject *words, Py_ssize_t size) {
  Py_ssize_t count = PyTuple_Size(defs), held = PyTuple_Size(words), at = 0;
  while (at < count && PyLong_AsSsize_t(PyTuple_GetItem(defs, at)) != register_) at++;
  if (size == 1 && count == 2 * held && at < count) return part_of(words, at / 2, 1); /* one of two halves of a word */
  return at < count && held / count == size && held % count == 0 ? part_of(words, at * size, size) : NULL;
}

/* The virtual registers that the definition of a register shares: a new reference; NULL if it allocates its own, or
 * with an exception. */
static PyObject *words_shared(SharedRegisters *shared, Py_ssize_t register_, const Rule *rule) {
  Py_ssize_t number = PyLong_AsSsize_t(PyList_GetItem(shared->only, register_));
  Py_ssize_t size = PyTuple_Size(PyList_GetItem(shared->allocated, register_));
  PyObject *uses = PyList_GetItem(shared->lists[0], number);
  char how = rule->how;
  if (rule->readers != NULL && !is_read_by(shared, register_, rule->readers)) return NULL;
  if (how == PACKED) return packed_words(shared, rule->parts, size);
  if (PyTuple_Size(uses) != 1) return NULL;
  Py_ssize_t source = index_in(PyTuple_GetItem(uses, 0), shared->registers);
  if (source < 0) return NULL;
  PyObject *words = how == SCALED ? shared_value(shared, source) : single_definition(shared, source);
  if (words == NULL) return NULL;
  Py_ssize_t held = PyTuple_Size(words);
  switch (how) {
    case UNPACKED: return unpacked_words(register_, PyList_GetItem(shared->lists[1], number), words, size);
    case SAME_SIZE: return held == size ? new_reference(words) : NULL;
    case WHOLE: return new_reference(words);
    case IN_REGISTERS: return holds_words(words) ? new_reference(words) : NULL;
    case SCALED: return part_of(words, 0, size);
    case WIDENED: return held ? half_of(words, 0, 1) : NULL;
    case NARROWED: return held ? part_of(words, 0, 1) : NULL;
    case UPPER_MOVED: return held > 1 ? half_of(words, 1, 1) : NULL;
    case LOWER: return held > 1 ? half_of(words, 0, 1) : NULL;
    case UPPER: return held > 1 ? half_of(words, 1, 0) : NULL;
    default: return NULL;
  }
}

/* -- what may be shared ------------------------------------------------------------------------------------- */

/* Notes how the registers of one instruction share; what depends on no other register is set. */
static int add_rule(SharedRegisters *shared, Py_ssize_t number, const Rule *rule, const char *is_wanted) {
  PyObject *defs = PyList_GetItem(shared->lists[1], number);
  Py_ssize_t count = PyTuple_Size(defs);
  for (Py_ssize_t n = 0; n < count; n++) {
    Py_ssize_t register_ = index_in(PyTuple_GetItem(defs, n), shared->registers);
    if (register_ < 0) return 0;
    PyObject *own = PyList_GetItem(shared->allocated, register_);
    Py_ssize_t size = PyTuple_Size(own);
    if (size <= 0 || PyLong_AsSsize_t(PyList_GetItem(shared->only, register_)) != number) continue;
    if (is_wanted != NULL && !is_wanted[register_]) continue;
    if (rule->how > NOTHING) shared->rules[register_] = *rule;
    else if (PyTuple_Size(PyList_GetItem(shared->lists[0], number)) == 0 &&
             !set_shared(shared, register_, rule->how == ITS_OWN ? new_reference(own) : part_of(NULL, 0, size)))
      return 0;
  }
  return !PyErr_Occurred();
}

/* Reads one group of instructions whose results share in the same way; false with an exception. */
static int add_group(SharedRegisters *shared, PyObject *group, const char *is_wanted) {
  PyObject *numbers, *readers, *parts;
  int how;
  if (!PyArg_ParseTuple(group, "iO!OO", &how, &PyList_Type, &numbers, &readers, &parts)) return 0;
  Py_ssize_t count = PyList_Size(numbers);
  if (how < ITS_OWN || how > MOST_SHARING || (how == PACKED) != PyList_Check(parts) ||
      (how == PACKED && PyList_Size(parts) != count) || (readers != Py_None && !PyDict_Check(readers))) {
    PyErr_SetString(PyExc_ValueError, "registers are not shared like that");
    return 0;
  }
  Rule rule = {(char)how, 0, readers == Py_None ? NULL : readers, NULL};
  for (Py_ssize_t n = 0; n < count; n++) {
    Py_ssize_t number = index_in(PyList_GetItem(numbers, n), shared->end);
    if (how == PACKED) rule.parts = PyList_GetItem(parts, n);
    if (number < 0 || !add_rule(shared, number, &rule, is_wanted)) return 0;
  }
  return 1;
}

static int share_all(SharedRegisters *shared, PyObject *groups, const char *is_wanted) {
  Py_ssize_t count = PyList_Size(groups);
  for (Py_ssize_t n = 0; n < count; n++)
    if (!add_group(shared, PyList_GetItem(groups, n), is_wanted)) return 0;
  for (Py_ssize_t register_ = 0; register_ < shared->registers; register_++)
    if (shared->rules[register_].how && shared_value(shared, register_) == NULL) return 0;
  return 1;
}

static PyObject *share_registers(PyObject *Py_UNUSED(module), PyObject *arguments) {
  SharedRegisters shared = {0};
  PyObject *readers, *groups, *wanted;
  if (!PyArg_ParseTuple(arguments, "OOOO!O!O!O!O!O!O", &shared.lists[0], &shared.lists[1], &shared.lists[2],
                        &PyList_Type, &shared.only, &PyList_Type, &shared.allocated, &PyList_Type, &shared.values,
                        &PyByteArray_Type, &shared.is_eliminated, readers_type, &readers, &PyList_Type, &groups,
                        &wanted))
    return NULL;
  shared.readers = (Readers *)readers;
  shared.registers = PyList_Size(shared.values);
  shared.end = PyByteArray_Size(shared.is_eliminated);
  if (!are_lists_with(shared.lists, 3, 0, shared.end)) return NULL;
  if (PyList_Size(shared.only) != shared.registers || PyList_Size(shared.allocated) != shared.registers ||
      shared.readers->count != shared.registers || shared.readers->end > shared.end)
    return PyErr_Format(PyExc_ValueError, "each register has definitions, virtual registers and readers");
  char *is_wanted = wanted == Py_None ? NULL : zeroed(shared.registers, 1);
  shared.rules = zeroed(shared.registers, sizeof *shared.rules);
  int is_done = shared.rules != NULL && (wanted == Py_None || is_wanted != NULL) &&
                (is_wanted == NULL || mark_all(wanted, is_wanted, shared.registers)) &&
                share_all(&shared, groups, is_wanted);
  PyMem_Free(shared.rules);
  PyMem_Free(is_wanted);
  return is_done && !PyErr_Occurred() ? NONE : NULL;
}

#endif
