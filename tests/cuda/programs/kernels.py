"""PTX for the programs."""

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
SAXPY = HEAD + """
.global .align 4 .u32 launches = 0;
.const .align 4 .f32 offset = 0f3F800000;
.visible .entry saxpy(.param .u64 x, .param .f32 a, .param .u32 n)
{
	.reg .f32 %f<3>;
	.reg .b32 %r<5>;
	.reg .b64 %rd<4>;
	.reg .pred %p;
	ld.param.u64 %rd0, [x];
	ld.param.f32 %f0, [a];
	ld.param.u32 %r0, [n];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r1, %r1, %r2, %r3;
	setp.ge.u32 %p, %r1, %r0;
	@%p ret;
	mul.wide.u32 %rd1, %r1, 4;
	add.u64 %rd1, %rd0, %rd1;
	ld.global.f32 %f1, [%rd1];
	ld.const.f32 %f2, [offset];
	fma.rn.f32 %f1, %f1, %f0, %f2;
	st.global.f32 [%rd1], %f1;
	red.global.add.u32 [launches], 1;
	ret;
}
"""
RACE = HEAD + """
.visible .entry shift(.param .u64 x)
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<3>;
	.shared .align 4 .b8 line[512];
	mov.u32 %r0, %tid.x;
	shl.b32 %r1, %r0, 2;
	cvt.u64.u32 %rd1, %r1;
	mov.u64 %rd2, line;
	add.u64 %rd2, %rd2, %rd1;
	st.shared.u32 [%rd2], %r0;
	xor.b32 %r1, %r1, 256;
	cvt.u64.u32 %rd2, %r1;
	mov.u64 %rd0, line;
	add.u64 %rd2, %rd2, %rd0;
	ld.shared.u32 %r2, [%rd2];
	ld.param.u64 %rd0, [x];
	add.u64 %rd0, %rd0, %rd1;
	st.global.u32 [%rd0], %r2;
	ret;
}
"""
