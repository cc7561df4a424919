/* The values that uniform registers could hold: `ptx_lsp/analyses/registers/uniform_values.py` has the definition. */

#ifndef PTX_UNIFORM_H
#define PTX_UNIFORM_H

#include "definitions.h"
#include "machine_block.h"

enum { MOST_UNIFORM_WORDS = 2 };

typedef struct {
  MachineCode code;
  PyObject *kinds, *only, *several; /* of the instructions; the definitions of the registers */
  PyObject *operations;             /* the kinds of uniform operations */
  PyObject *varying;                /* those that read another source than registers and constants */
  const Readers *readers;
  Py_ssize_t registers, size;
  unsigned char *is_uniform, *is_word; /* by instruction, and by virtual register below `size` */
  unsigned char *is_seen;              /* by register */
  Py_ssize_t *waiting, count, capacity; /* registers */
} UniformSearch;

static int add_waiting(UniformSearch *search, Py_ssize_t register_) {
  if (search->count == search->capacity) {
    Py_ssize_t capacity = search->capacity ? 2 * search->capacity : 256;
    Py_ssize_t *waiting = PyMem_Realloc(search->waiting, capacity * sizeof *waiting);
    if (waiting == NULL) return PyErr_NoMemory() != NULL;
    search->waiting = waiting;
    search->capacity = capacity;
  }
  search->waiting[search->count++] = register_;
  return 1;
}

/* Sets whether some virtual registers are uniform; false with an exception. */
static int set_words(UniformSearch *search, PyObject *words, int is_uniform) {
  Py_ssize_t count = PyTuple_Size(words);
  for (Py_ssize_t n = 0; n < count; n++) {
    Py_ssize_t word = PyLong_AsSsize_t(PyTuple_GetItem(words, n));
    if (word >= search->size && is_uniform) {
      Py_ssize_t size = word < 128 ? 256 : 2 * word;
      unsigned char *is_word = PyMem_Realloc(search->is_word, size);
      if (is_word == NULL) return PyErr_NoMemory() != NULL;
      memset(is_word + search->size, 0, size - search->size);
      search->is_word = is_word;
      search->size = size;
    }
    if (word >= 0 && word < search->size) search->is_word[word] = (unsigned char)is_uniform;
  }
  return !PyErr_Occurred();
}

/* The only register that an instruction defines; -1 if it has none or several, or with an exception. */
static Py_ssize_t only_def(const UniformSearch *search, Py_ssize_t number) {
  PyObject *defs = PyList_GetItem(search->code.lists[1], number);
  return PyTuple_Size(defs) == 1 ? index_in(PyTuple_GetItem(defs, 0), search->registers) : -1;
}

/* Whether a register holds parameters, constants and uniform values. */
static int holds_known(const UniformSearch *search, Py_ssize_t register_) {
  PyObject *held = PyList_GetItem(search->code.values, register_);
  Py_ssize_t count = PyTuple_Size(held);
  for (Py_ssize_t n = 0; n < count; n++) {
    Py_ssize_t word = PyLong_AsSsize_t(PyTuple_GetItem(held, n));
    if (word >= 0 && !(word < search->size && search->is_word[word]) && !is_loaded(&search->code, word)) return 0;
  }
  return count > 0;
}

/* Whether an instruction reads only known values. */
static int reads_known(const UniformSearch *search, Py_ssize_t number) {
  PyObject *uses = PyList_GetItem(search->code.lists[0], number);
  Py_ssize_t count = PyTuple_Size(uses);
  for (Py_ssize_t n = 0; n < count; n++) {
    Py_ssize_t register_ = index_in(PyTuple_GetItem(uses, n), search->registers);
    if (register_ < 0 || !holds_known(search, register_)) return 0;
  }
  if (count) return 1;
  PyObject *key = PyLong_FromSsize_t(number);
  int varies = key == NULL ? -1 : PySet_Contains(search->varying, key);
  Py_XDECREF(key);
  return varies == 0;
}

/* Whether an instruction is an operation of the uniform datapath. */
static int may_be_uniform(const UniformSearch *search, Py_ssize_t number) {
  return PyLong_AsSsize_t(PyList_GetItem(search->code.lists[3], number)) < 0 && !is_gone(&search->code, number) &&
         only_def(search, number) >= 0 && PyTuple_Size(PyList_GetItem(search->code.lists[2], number)) == 0 &&
         PySet_Contains(search->operations, PyList_GetItem(search->kinds, number)) > 0;
}

/* Notes what an instruction makes uniform; false with an exception. */
static int define_uniform(UniformSearch *search, Py_ssize_t number) {
  if (search->is_uniform[number] || !may_be_uniform(search, number) || !reads_known(search, number))
    return !PyErr_Occurred();
  int is_allocated = 0;
  Py_ssize_t register_ = only_def(search, number);
  PyObject *words = words_of(&search->code, register_, &is_allocated);
  if (words == NULL) return 0;
  Py_ssize_t count = PyTuple_Size(words);
  if (!is_allocated || !count || count > MOST_UNIFORM_WORDS ||
      PyLong_AsSsize_t(PyList_GetItem(search->only, register_)) != number)
    return !PyErr_Occurred();
  search->is_uniform[number] = 1;
  return set_words(search, words, 1) && add_waiting(search, register_);
}

/* Adds the registers that an eliminated instruction defines and that are known, or that are not. */
static int follow_eliminated(UniformSearch *search, Py_ssize_t number, int are_known) {
  PyObject *defs = PyList_GetItem(search->code.lists[1], number);
  Py_ssize_t count = PyTuple_Size(defs);
  for (Py_ssize_t n = 0; n < count; n++) {
    Py_ssize_t register_ = index_in(PyTuple_GetItem(defs, n), search->registers);
    if (register_ < 0) return 0;
    if (holds_known(search, register_) == are_known && !add_waiting(search, register_)) return 0;
  }
  return !PyErr_Occurred();
}

/* The next waiting register that was not seen yet, whose readers are `*first` up to `*end`; false without one. */
static int next_waiting(UniformSearch *search, const Py_ssize_t **first, const Py_ssize_t **end) {
  while (search->count) {
    Py_ssize_t register_ = search->waiting[--search->count];
    if (search->is_seen[register_]) continue;
    search->is_seen[register_] = 1;
    *first = search->readers->instructions + search->readers->starts[register_];
    *end = search->readers->instructions + search->readers->starts[register_ + 1];
    return 1;
  }
  return 0;
}

/* Adds what follows from the waiting registers; false with an exception. */
static int grow_uniform(UniformSearch *search) {
  const Py_ssize_t *reader, *end;
  while (next_waiting(search, &reader, &end))
    for (; reader < end; reader++)
      if (!(is_gone(&search->code, *reader) ? follow_eliminated(search, *reader, 1) : define_uniform(search, *reader)))
        return 0;
  return 1;
}

/* Sets whether the definitions of a register are uniform; false with an exception. */
static int set_definitions(UniformSearch *search, Py_ssize_t register_, int are_uniform) {
  PyObject *name = PyList_GetItem(search->only, register_);
  Py_ssize_t number = PyLong_AsSsize_t(name);
  if (number >= 0 && number < search->code.end) search->is_uniform[number] = (unsigned char)are_uniform;
  if (number >= 0 || PyErr_Occurred()) return !PyErr_Occurred();
  PyObject *key = PyLong_FromSsize_t(register_);
  PyObject *numbers = key == NULL ? NULL : PyDict_GetItemWithError(search->several, key);
  Py_XDECREF(key);
  Py_ssize_t count = numbers == NULL ? 0 : PyList_Size(numbers);
  for (Py_ssize_t n = 0; n < count; n++) {
    if ((number = index_in(PyList_GetItem(numbers, n), search->code.end)) < 0) return 0;
    search->is_uniform[number] = (unsigned char)are_uniform;
  }
  return !PyErr_Occurred();
}

/* Sets whether a variable is uniform, with its definitions; false with an exception. */
static int set_variable(UniformSearch *search, Py_ssize_t register_, int is_uniform) {
  return set_words(search, PyList_GetItem(search->code.allocated, register_), is_uniform) &&
         set_definitions(search, register_, is_uniform);
}

/* Whether all these definitions may be uniform, or read only known values. */
static int do_all(
    const UniformSearch *search, PyObject *numbers, int (*holds)(const UniformSearch *search, Py_ssize_t number)) {
  Py_ssize_t count = PyList_Size(numbers);
  for (Py_ssize_t n = 0; n < count; n++) {
    Py_ssize_t number = index_in(PyList_GetItem(numbers, n), search->code.end);
    if (number < 0 || !holds(search, number)) return 0;
  }
  return count >= 0;
}

/* The registers with several definitions that may be uniform, as keys of a dictionary; NULL with an exception. */
static PyObject *find_variables(UniformSearch *search) {
  PyObject *found = PyDict_New(), *name, *numbers;
  for (Py_ssize_t at = 0; found != NULL && PyDict_Next(search->several, &at, &name, &numbers);) {
    Py_ssize_t register_ = index_in(name, search->registers);
    Py_ssize_t count = register_ < 0 ? 0 : PyTuple_Size(PyList_GetItem(search->code.allocated, register_));
    if (count > 0 && count <= MOST_UNIFORM_WORDS && do_all(search, numbers, may_be_uniform) &&
        (!set_variable(search, register_, 1) || PyDict_SetItem(found, name, numbers) < 0))
      break;
    if (PyErr_Occurred()) break;
  }
  if (PyErr_Occurred()) Py_CLEAR(found);
  return found;
}

/* Removes the variables of which a definition is not uniform, and what is only uniform with them. */
static int shrink_uniform(UniformSearch *search, PyObject *variables) {
  PyObject *name, *numbers;
  const Py_ssize_t *reader, *end;
  for (Py_ssize_t at = 0; PyDict_Next(variables, &at, &name, &numbers);)
    if (!do_all(search, numbers, reads_known) && !add_waiting(search, PyLong_AsSsize_t(name))) return 0;
  for (Py_ssize_t n = 0; n < search->count; n++)
    if (!set_variable(search, search->waiting[n], 0)) return 0;
  memset(search->is_seen, 0, search->registers);
  while (!PyErr_Occurred() && next_waiting(search, &reader, &end))
    for (; reader < end; reader++) {
      if (is_gone(&search->code, *reader)) {
        if (!follow_eliminated(search, *reader, 0)) return 0;
      } else if (search->is_uniform[*reader] && !reads_known(search, *reader)) {
        Py_ssize_t register_ = only_def(search, *reader);
        if (register_ < 0 || !set_variable(search, register_, 0) || !add_waiting(search, register_)) return 0;
      }
    }
  return !PyErr_Occurred();
}

/* Adds the registers that some instructions define, whose parameters are loaded; false with an exception. */
static int add_loaded(UniformSearch *search, PyObject *loading) {
  Py_ssize_t count = PyList_Size(loading);
  for (Py_ssize_t n = 0; n < count; n++) {
    Py_ssize_t number = index_in(PyList_GetItem(loading, n), search->code.end);
    PyObject *defs = number < 0 ? NULL : PyList_GetItem(search->code.lists[1], number);
    Py_ssize_t size = defs == NULL ? -1 : PyTuple_Size(defs);
    for (Py_ssize_t one = 0; one < size; one++) {
      Py_ssize_t register_ = index_in(PyTuple_GetItem(defs, one), search->registers);
      if (register_ < 0 || !add_waiting(search, register_)) return 0;
    }
    if (size < 0) return 0;
  }
  return 1;
}

static int search_uniform(UniformSearch *search, PyObject *loading, PyObject *sources) {
  PyObject *variables = find_variables(search), *name, *numbers;
  if (variables == NULL) return 0;
  int failed = 0;
  for (Py_ssize_t at = 0; !failed && PyDict_Next(variables, &at, &name, &numbers);)
    failed = !add_waiting(search, PyLong_AsSsize_t(name));
  failed = failed || !add_loaded(search, loading);
  for (Py_ssize_t n = 0, count = PyList_Size(sources); n < count && !failed; n++) {
    Py_ssize_t number = index_in(PyList_GetItem(sources, n), search->code.end);
    failed = number < 0 || !define_uniform(search, number);
  }
  failed = failed || !grow_uniform(search) || !shrink_uniform(search, variables);
  Py_DECREF(variables);
  return !failed && !PyErr_Occurred();
}

/* A set of the numbers with a flag; NULL with an exception. */
static PyObject *set_of_flags(const unsigned char *flags, Py_ssize_t size) {
  PyObject *found = PySet_New(NULL);
  for (Py_ssize_t n = 0; n < size && found != NULL; n++) {
    if (!flags[n]) continue;
    PyObject *number = PyLong_FromSsize_t(n);
    if (number == NULL || PySet_Add(found, number) < 0) Py_CLEAR(found);
    Py_XDECREF(number);
  }
  return found;
}

static PyObject *uniform_values(PyObject *Py_UNUSED(module), PyObject *arguments) {
  UniformSearch search = {0};
  MachineCode *code = &search.code;
  PyObject *readers, *loading, *sources, *found = NULL;
  if (!PyArg_ParseTuple(arguments, "OOOOO!O!O!OO!O!O!O!O!O!O!O!", &code->lists[0], &code->lists[1], &code->lists[2],
                        &code->lists[3], &PyList_Type, &search.kinds, &PyList_Type, &code->values, &PyList_Type,
                        &code->allocated, &code->is_eliminated, &PyDict_Type, &code->loads, &PyList_Type, &search.only,
                        &PyDict_Type, &search.several, readers_type, &readers, &PySet_Type, &search.operations,
                        &PySet_Type, &search.varying, &PyList_Type, &loading, &PyList_Type, &sources))
    return NULL;
  search.readers = (Readers *)readers;
  search.registers = PyList_Size(code->values);
  code->end = PyList_Check(code->lists[0]) ? PyList_Size(code->lists[0]) : 0;
  if (!is_machine_code(code) || !are_lists_with(&search.kinds, 1, 0, code->end)) return NULL;
  if (PyList_Size(search.only) != search.registers || search.readers->count != search.registers ||
      search.readers->end > code->end)
    return PyErr_Format(PyExc_ValueError, "each register has definitions and readers");
  search.is_uniform = zeroed(code->end, 1);
  search.is_seen = zeroed(search.registers, 1);
  if (read_loaded(code) && search.is_uniform != NULL && search.is_seen != NULL &&
      search_uniform(&search, loading, sources))
    found = Py_BuildValue("NN", set_of_flags(search.is_word, search.size), set_of_flags(search.is_uniform, code->end));
  PyMem_Free(code->is_loaded);
  PyMem_Free(search.is_uniform);
  PyMem_Free(search.is_word);
  PyMem_Free(search.is_seen);
  PyMem_Free(search.waiting);
  return found;
}

#endif
