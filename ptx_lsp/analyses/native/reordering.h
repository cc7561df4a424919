/* The second schedule, after registers are allocated: `ptx_lsp/analyses/registers/scheduling/list_scheduling.py` (4). */

#ifndef PTX_REORDERING_H
#define PTX_REORDERING_H

#include "scheduling.h"

enum { MOST_REGISTERS = 1024, NOWHERE = -1 };

/* The registers of the names, allocated in an order, and the dependences that follow from them. */
typedef struct {
  const Operands *operands;
  const char *is_counted;
  unsigned char *is_last_use;  /* by place in the uses */
  unsigned char *is_read;      /* by place in the definitions, whether the value is read */
  unsigned char *is_fresh;     /* by place in the definitions, whether the register was that of no operand */
  Py_ssize_t *registers;       /* by name, or NOWHERE */
  unsigned char *is_taken;     /* by register */
  Py_ssize_t *freed_in;        /* by register, the turn, plus 1 */
  Dependences dependences;     /* between turns */
} Allocation;

static int is_defined_anew(const Allocation *state, Py_ssize_t name) {
  return state->is_counted[name] && state->registers[name] == NOWHERE;
}

/* Finds what is read for the last time in an order, and gives registers to what is live before it. */
static int find_last_uses(Allocation *state, const Py_ssize_t *order) {
  const Operands *operands = state->operands;
  Py_ssize_t next = 0;
  unsigned char *is_live = zeroed(operands->names, 1);
  if (is_live == NULL) return 0;
  for (Py_ssize_t n = 0; n < operands->live_count; n++) is_live[operands->live_out[n]] = 1;
  for (Py_ssize_t turn = operands->count - 1; turn >= 0; turn--) {
    Py_ssize_t number = order[turn];
    for (Py_ssize_t at = operands->defs.starts[number]; at < operands->defs.starts[number + 1]; at++) {
      Py_ssize_t name = operands->defs.items[at];
      state->is_read[at] = is_live[name];
      if (!is_kept(operands, number, name)) is_live[name] = 0;
    }
    for (Py_ssize_t at = operands->uses.starts[number]; at < operands->uses.starts[number + 1]; at++) {
      state->is_last_use[at] = !is_live[operands->uses.items[at]];
      is_live[operands->uses.items[at]] = 1;
    }
  }
  for (Py_ssize_t name = 0; name < operands->names; name++) {
    state->registers[name] = NOWHERE;
    if (!is_live[name] || !state->is_counted[name] || next == MOST_REGISTERS) continue;
    state->is_taken[next] = 1;
    state->registers[name] = next++;
  }
  PyMem_Free(is_live);
  return 1;
}

/* The first of `size` free registers, aligned; NOWHERE if there are none. */
static Py_ssize_t free_registers(const Allocation *state, Py_ssize_t size) {
  Py_ssize_t step = size > 2 ? 4 : size;
  for (Py_ssize_t first = 0; first + size <= MOST_REGISTERS; first += step) {
    Py_ssize_t n = 0;
    while (n < size && !state->is_taken[first + n]) n++;
    if (n == size) return first;
  }
  return NOWHERE;
}

/* What one instruction reads for the last time frees registers. */
static void free_last_uses(Allocation *state, Py_ssize_t number, Py_ssize_t turn) {
  const Rows *uses = &state->operands->uses;
  for (Py_ssize_t at = uses->starts[number]; at < uses->starts[number + 1]; at++) {
    Py_ssize_t *register_ = state->registers + uses->items[at];
    if (*register_ == NOWHERE) continue;
    add_reader(&state->dependences, *register_, turn);
    if (!state->is_last_use[at]) continue;
    state->is_taken[*register_] = 0;
    state->freed_in[*register_] = turn + 1;
    *register_ = NOWHERE;
  }
}

/* A register is overwritten after it was written and read. */
static int overwrite(Dependences *known, Py_ssize_t register_, Py_ssize_t turn) {
  if (known->written[register_] && !add_edge(known, known->written[register_] - 1, turn, 1)) return 0;
  for (Py_ssize_t item = known->last_reader[register_]; item; item = known->before[item])
    if (!add_edge(known, known->readers[item], turn, 1)) return 0;
  known->last_reader[register_] = 0;
  known->written[register_] = turn + 1;
  return 1;
}

/* The results of one instruction have registers side by side, if possible. */
static int allocate_results(Allocation *state, Py_ssize_t number, Py_ssize_t turn) {
  const Rows *defs = &state->operands->defs;
  Py_ssize_t first = defs->starts[number], end = defs->starts[number + 1], size = 0;
  for (Py_ssize_t at = first; at < end; at++) size += is_defined_anew(state, defs->items[at]);
  Py_ssize_t next = size ? free_registers(state, size) : NOWHERE;
  for (Py_ssize_t at = first; at < end; at++) {
    Py_ssize_t *register_ = state->registers + defs->items[at];
    if (is_defined_anew(state, defs->items[at])) {
      *register_ = next == NOWHERE ? free_registers(state, 1) : next++;
      if (*register_ == NOWHERE) continue;
      state->is_taken[*register_] = 1;
      state->is_fresh[at] = state->freed_in[*register_] != turn + 1;
    }
    if (*register_ != NOWHERE && !overwrite(&state->dependences, *register_, turn)) return 0;
  }
  for (Py_ssize_t at = first; at < end; at++) {
    Py_ssize_t *register_ = state->registers + defs->items[at];
    if (state->is_read[at] || *register_ == NOWHERE) continue;
    state->is_taken[*register_] = 0;
    *register_ = NOWHERE;
  }
  return 1;
}

static int begin_allocation(
    Allocation *state, const Operands *operands, const char *is_counted, Py_ssize_t names) {
  Py_ssize_t uses = operands->uses.starts[operands->count], defs = operands->defs.starts[operands->count];
  Dependences *known = &state->dependences;
  if (names != operands->names) {
    PyErr_SetString(PyExc_ValueError, "there is a flag for each name");
    return 0;
  }
  state->operands = operands;
  state->is_counted = is_counted;
  state->is_last_use = zeroed(uses, 1);
  state->is_read = zeroed(defs, 1);
  state->is_fresh = zeroed(defs, 1);
  state->registers = zeroed(names, sizeof *state->registers);
  state->is_taken = zeroed(MOST_REGISTERS, 1);
  state->freed_in = zeroed(MOST_REGISTERS, sizeof *state->freed_in);
  known->written = zeroed(MOST_REGISTERS, sizeof *known->written);
  known->last_reader = zeroed(MOST_REGISTERS, sizeof *known->last_reader);
  known->before = zeroed(uses + 1, sizeof *known->before);
  known->readers = zeroed(uses + 1, sizeof *known->readers);
  return !PyErr_Occurred();
}

static void end_allocation(Allocation *state) {
  const Dependences *known = &state->dependences;
  void *memory[] = {state->is_last_use, state->is_read, state->is_fresh, state->registers, state->is_taken,
                    state->freed_in, known->written, known->last_reader, known->before, known->readers, known->edges};
  for (size_t n = 0; n < sizeof memory / sizeof *memory; n++) PyMem_Free(memory[n]);
}

static int allocate(Allocation *state, const Py_ssize_t *order) {
  if (!find_last_uses(state, order)) return 0;
  for (Py_ssize_t turn = 0; turn < state->operands->count; turn++) {
    free_last_uses(state, order[turn], turn);
    if (!allocate_results(state, order[turn], turn)) return 0;
  }
  return 1;
}

/* Scheduling forwards. `turns` are those of the order in which registers were allocated. */
typedef struct {
  const DependenceGraph *graph;
  const Py_ssize_t *edges;
  Py_ssize_t *order, *turns, *heights; /* the cycles behind the start of each instruction */
  Py_ssize_t *before, *earliest;       /* the instructions that each waits for, and the cycle in which it may start */
  Py_ssize_t *first_edge, *next_edge;  /* lists of the edges of each turn, from 1 */
  Heap waiting, available;             /* by cycle; by height, then by turn */
  Py_ssize_t now;
} Forward;

static int begin_forward(
    Forward *state, const DependenceGraph *graph, const Dependences *dependences, const Py_ssize_t *order) {
  Py_ssize_t count = graph->count;
  state->graph = graph;
  state->edges = dependences->edges;
  Py_ssize_t **arrays[] = {&state->order, &state->turns, &state->heights, &state->before, &state->earliest,
                           &state->first_edge};
  for (size_t n = 0; n < sizeof arrays / sizeof *arrays; n++) *arrays[n] = zeroed(count, sizeof **arrays[n]);
  state->next_edge = zeroed(dependences->edge_count, sizeof *state->next_edge);
  if (PyErr_Occurred()) return 0;
  memcpy(state->order, order, count * sizeof *order);
  memcpy(state->before, graph->predecessor_counts, count * sizeof *order);
  for (Py_ssize_t turn = 0; turn < count; turn++) state->turns[order[turn]] = turn;
  for (Py_ssize_t edge = 0; edge < dependences->edge_count; edge++) {
    state->before[order[state->edges[3 * edge + 1]]]++;
    state->next_edge[edge] = state->first_edge[state->edges[3 * edge]];
    state->first_edge[state->edges[3 * edge]] = edge + 1;
  }
  for (Py_ssize_t n = count - 1; n >= 0; n--)
    for (Py_ssize_t at = graph->starts[n]; at < graph->starts[n + 1]; at++) {
      Py_ssize_t height = state->heights[graph->successors[at]] + graph->latencies[at];
      if (state->heights[n] < height) state->heights[n] = height;
    }
  for (Py_ssize_t n = 0; n < count; n++)
    if (!state->before[n] && !push(&state->waiting, 0, state->turns[n], n)) return 0;
  return 1;
}

static int let_follow(Forward *state, Py_ssize_t number, Py_ssize_t cycles) {
  if (state->earliest[number] < state->now + cycles) state->earliest[number] = state->now + cycles;
  return --state->before[number] || push(&state->waiting, state->earliest[number], state->turns[number], number);
}

/* The next instruction in `*chosen`: of those that need not wait, the one with the most cycles behind it. */
static int choose_next(Forward *state, Py_ssize_t *chosen) {
  Heap *waiting = &state->waiting;
  if (!state->available.size && !waiting->size) {
    PyErr_SetString(PyExc_ValueError, "the order contradicts the dependences");
    return 0;
  }
  if (!state->available.size && state->now < waiting->entries[0].first) state->now = waiting->entries[0].first;
  while (waiting->size && waiting->entries[0].first <= state->now) {
    Py_ssize_t number = pop(waiting).item;
    if (!push(&state->available, -state->heights[number], state->turns[number], number)) return 0;
  }
  *chosen = pop(&state->available).item;
  return 1;
}

/* Replaces an order; false with an exception. */
static int schedule_forwards(Forward *state, Py_ssize_t *order) {
  const DependenceGraph *graph = state->graph;
  for (Py_ssize_t turn = 0; turn < graph->count; turn++) {
    Py_ssize_t number;
    if (!choose_next(state, &number)) return 0;
    order[turn] = number;
    for (Py_ssize_t at = graph->starts[number]; at < graph->starts[number + 1]; at++)
      if (!let_follow(state, graph->successors[at], graph->latencies[at])) return 0;
    for (Py_ssize_t item = state->first_edge[state->turns[number]]; item; item = state->next_edge[item - 1])
      if (!let_follow(state, state->order[state->edges[3 * item - 2]], state->edges[3 * item - 1])) return 0;
    state->now++;
  }
  return 1;
}

static void end_forward(Forward *state) {
  void *memory[] = {state->order, state->turns, state->heights, state->before, state->earliest, state->first_edge,
                    state->next_edge, state->waiting.entries, state->available.entries};
  for (size_t n = 0; n < sizeof memory / sizeof *memory; n++) PyMem_Free(memory[n]);
}

/* The most registers that are live in an order; -1 with an exception. */
static Py_ssize_t most_live(const Allocation *state, const Py_ssize_t *more, const Py_ssize_t *order) {
  const Operands *operands = state->operands;
  Live live = {0};
  if (!begin_live(&live, operands, state->is_counted, operands->names)) return -1;
  Py_ssize_t most = live.count;
  for (Py_ssize_t turn = operands->count - 1; turn >= 0; turn--) {
    Py_ssize_t number = order[turn], after = live.count + count_new(&live, &operands->defs, number);
    end_definitions(&live, operands, number);
    Py_ssize_t across = live.count;
    for (Py_ssize_t at = operands->uses.starts[number]; at < operands->uses.starts[number + 1]; at++)
      set_live(&live, operands->uses.items[at], 1);
    Py_ssize_t around = live.count;
    for (Py_ssize_t at = operands->defs.starts[number]; at < operands->defs.starts[number + 1]; at++)
      around += state->is_fresh[at];
    around = with_more(around > after ? around : after, across, more[number]);
    if (around > most) most = around;
  }
  PyMem_Free(live.is_live);
  return most;
}

static PyObject *reordered(PyObject *self, PyObject *arguments) {
  const Operands *operands = (Operands *)self;
  PyObject *given_graph, *given_more, *given_order, *found = NULL;
  const char *is_counted;
  Py_ssize_t names;
  if (!PyArg_ParseTuple(arguments, "O!O!y#O!", dependence_graph_type, &given_graph, &PyList_Type, &given_more,
                        &is_counted, &names, &PyList_Type, &given_order))
    return NULL;
  const DependenceGraph *graph = (DependenceGraph *)given_graph;
  Allocation allocation = {0};
  Forward forward = {0};
  Py_ssize_t count = operands->count, *more = read_numbers(given_more, count), *order = NULL;
  if (graph->count != count) PyErr_SetString(PyExc_ValueError, "the graph is that of another region");
  if (PyErr_Occurred() || (order = read_order(given_order, count)) == NULL) goto done;
  if (!begin_allocation(&allocation, operands, is_counted, names) || !allocate(&allocation, order)) goto done;
  if (!begin_forward(&forward, graph, &allocation.dependences, order) || !schedule_forwards(&forward, order)) goto done;
  Py_ssize_t most = most_live(&allocation, more, order);
  if (most >= 0) found = PyLong_FromSsize_t(most);
done:
  end_allocation(&allocation);
  end_forward(&forward);
  PyMem_Free(more);
  PyMem_Free(order);
  return found;
}

#endif
