"""Modifiers of arithmetic, comparison, logic, conversion and video, as `lookup` reads them."""

from __future__ import annotations

from typing import Final

TEXT: Final = """
# Rounding
.rn | Rounds the result to the nearest representable number, halfway cases to the even one.
.rz | Rounds the result towards zero.
.rm | Rounds the result down, towards negative infinity.
.rp | Rounds the result up, towards positive infinity.
.rna | Rounds the result to the nearest representable number, halfway cases away from zero.
.rs | Rounds up or down at random (stochastic rounding); an operand brings the random bits.
.rni | Rounds to the nearest integer, halfway cases to the even one.
.rzi | Rounds to an integer, towards zero.
.rmi | Rounds down to an integer, towards negative infinity.
.rpi | Rounds up to an integer, towards positive infinity.
.approx | Computes a fast approximation, whose greatest error the manual states.
div | .approx | Divides fast, as a product with the approximate reciprocal: 2 ulp at most, for a divisor
    between 2^-126 and 2^126.
div | .full | Divides fast for divisors of every size, with an error of 2 ulp at most.

# Special values
.ftz | Subnormal inputs and results are flushed to zero of the same sign.
.sat | Limits the result: an integer to what its type holds, a float to 0.0 to 1.0 (and NaN gives +0.0).
addc subc mad24 vabsdiff vadd vavrg2 vavrg4 vmad vmax vmin vsub vshl vshr | .sat | Limits the result to
    what its type holds, in place of wrapping around.
vabsdiff2 vabsdiff4 vadd2 vadd4 vmax2 vmax4 vmin2 vmin4 vsub2 vsub4 | .sat | Limits each
    result to what a part of its size holds, in place of wrapping around.
fma mul | .sat | Limits the result to 0.0 to 1.0; NaN gives +0.0.
cvt | .sat | Limits the value to what the new integer type holds, or a float to 0.0 to 1.0 (and NaN to +0.0).
.satfinite | What is too large becomes the largest finite number with its sign, never infinity.
mma wgmma | .satfinite | Limits sums to what .s32 holds, in place of wrapping around.
wmma | .satfinite | Limits sums to what their type holds: .s32 does not wrap around, .f16 and .f32 give
    no infinity.
.relu | A negative result becomes 0 (a rectified linear unit).
.pzo | A result of -0 becomes +0.
.NaN | The result is NaN if an input is; without it, NaN loses against a number.
max min | .abs | Takes the magnitudes of the inputs; it comes with .xorsign.
redux | .abs | Takes the magnitudes of the values.
max min | .xorsign | Gives the result the product of the inputs' signs, by an exclusive or of the sign bits.
fma | .oob | Gives 0 where an input is the NaN that marks data as out of bounds.

# Parts of products, and carries
mul mad madc clmad | .hi | Takes the upper half of the product.
mul mad madc clmad | .lo | Takes the lower half of the product.
mul24 mad24 | .hi | Takes the upper 32 bits, 47 to 16, of the 48-bit product.
mul24 mad24 | .lo | Takes the lower 32 bits of the 48-bit product.
dp2a | .hi | Multiplies by the upper two bytes of b.
dp2a | .lo | Multiplies by the lower two bytes of b.
.wide | Takes all of the product: the result has twice the width of the factors.
.cc | Writes the carry out to the condition code register, for the next extended instruction: 0 for a borrow.

# Comparison
.eq | Equal; false if an operand is NaN.
.ne | Not equal; false if an operand is NaN.
.lt | Less than; false if an operand is NaN.
.le | Less than or equal; false if an operand is NaN.
.gt | Greater than; false if an operand is NaN.
.ge | Greater than or equal; false if an operand is NaN.
.equ | Equal, or an operand is NaN.
.neu | Not equal, or an operand is NaN.
.ltu | Less than, or an operand is NaN.
.leu | Less than or equal, or an operand is NaN.
.gtu | Greater than, or an operand is NaN.
.geu | Greater than or equal, or an operand is NaN.
.num | Both operands are numbers, none is NaN.
.nan | An operand is NaN, or both are.
vset vset2 vset4 | .eq | Compares for equality.
vset vset2 vset4 | .ne | Compares for inequality.
vset vset2 vset4 | .lt | Compares for less than.
vset vset2 vset4 | .le | Compares for less than or equal.
vset vset2 vset4 | .gt | Compares for greater than.
vset vset2 vset4 | .ge | Compares for greater than or equal.
set setp | .lo | Lower: less than, as unsigned numbers.
set setp | .ls | Lower or the same: less than or equal, as unsigned numbers.
set setp | .hi | Higher: greater than, as unsigned numbers.
set setp | .hs | Higher or the same: greater than or equal, as unsigned numbers.
set setp | .and | Combines the comparison with predicate c: both must be true.
set setp | .or | Combines the comparison with predicate c: one of them must be true.
set setp | .xor | Combines the comparison with predicate c: exactly one must be true.
lop3 | .and | Gives a predicate as well: the result is not 0, and predicate q is true.
lop3 | .or | Gives a predicate as well: the result is not 0, or predicate q is true.
testp | .finite | Tests for a number that is neither infinite nor NaN.
testp | .infinite | Tests for positive or negative infinity.
testp | .number | Tests for any value but NaN.
testp | .notanumber | Tests for NaN.
testp | .normal | Tests for a normal number: no zero, subnormal, infinity or NaN.
testp | .subnormal | Tests for a subnormal number.

# Bits
bfind | .shiftamt | Gives how far left the found bit must be shifted to become the top one, not its position.
bmsk szext | .clamp | Limits position and width to 32.
bmsk szext | .wrap | Takes position and width modulo 32.
shf vshl vshr | .clamp | Limits the shift to 32 bits.
shf vshl vshr | .wrap | Takes the shift modulo 32.
shf | .l | Shifts left and gives the upper 32 of the 64 bits.
shf | .r | Shifts right and gives the lower 32 of the 64 bits.
prmt | .f4e | Takes four bytes in a row, from the byte that c names upwards.
prmt | .b4e | Takes four bytes in a row, from the byte that c names downwards.
prmt | .rc8 | Repeats the byte that c names four times.
prmt | .rc16 | Repeats the half-word that c names twice.
prmt | .ecl | Keeps the bytes from the one that c names upwards; those below repeat it.
prmt | .ecr | Keeps the bytes up to the one that c names; those above repeat it.

# Conversion
cvt | .pack | Puts two converted integers side by side into one register.
cvt | .scaled::n1::ue8m0 | One scale factor, a power of two (.ue8m0), is for all elements.
cvt | .scaled::n2::ue8m0 | Each of the two elements has a scale factor of its own, a power of two (.ue8m0).

# Video
vabsdiff vadd vmax vmin vset vshl vshr vsub | .add | Adds c to the result.
vabsdiff vadd vmax vmin vset vshl vshr vsub | .min | Gives the smaller one of the result and c.
vabsdiff vadd vmax vmin vset vshl vshr vsub | .max | Gives the larger one of the result and c.
vabsdiff2 vadd2 vavrg2 vmax2 vmin2 vset2 vsub2 | .add | Adds the chosen results and c up to one 32-bit sum.
vabsdiff4 vadd4 vavrg4 vmax4 vmin4 vset4 vsub4 | .add | Adds the chosen results and c up to one 32-bit sum.
vmad | .po | Adds one more: a*b + c + 1.
vmad | .shr<N> | Shifts the sum right by <N> bits.
vabsdiff vadd vmad vmax vmin vset vshl vshr vsub | .b<N> | Selects (after d: writes) byte <N> of the operand.
vabsdiff vadd vmad vmax vmin vset vshl vshr vsub | .h0 | Selects (after d: writes) the lower half-word.
vabsdiff vadd vmad vmax vmin vset vshl vshr vsub | .h1 | Selects (after d: writes) the upper half-word.
vabsdiff2 vadd2 vavrg2 vmax2 vmin2 vset2 vsub2 | .h<N> | Chooses half-words, the highest first, by the digits
    <N>: after d those that are written; else 0 and 1 of a, 2 and 3 of b.
vabsdiff4 vadd4 vavrg4 vmax4 vmin4 vset4 vsub4 | .b<N> | Chooses bytes, the highest first, by the digits
    <N>: after d those that are written; else 0 to 3 of a, 4 to 7 of b.

# Sparse vectors
spcompress spdecompress | .b8 .b16 | The size of an element.
spcompress spdecompress tcgen05 | .b2 .b4 | The size of an index.
spcompress spdecompress tcgen05 | .sp::<K>:<N> | Of every <N> elements of the dense vector, <K> are kept.
spcompress spdecompress | .x<N> | How much is handled at once: <N> times the smallest piece.
"""
