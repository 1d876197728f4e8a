#include "go_asm.h"
#include "textflag.h"

// SHA256RNDS2 wants the state as two vectors, a = (F E B A) and b = (H G D C)
// from the lowest word, and adds the words in X0's lower half. The message
// stays in ordinary order. SI points to the table of constants. All encodings
// are SSE: no transition from or to AVX.

// ROUNDS does the four rounds of row q on the message words m.
#define ROUNDS(q, m, a, b) \
	MOVOU       (q*16)(SI), X0; \
	PADDD       m, X0; \
	SHA256RNDS2 X0, a, b; \
	PSHUFD      $0x0E, X0, X0; \
	SHA256RNDS2 X0, b, a

// PADDING does the four rounds of row q, 2 or 3, and loads its words into m.
#define PADDING(q, m, a, b) \
	MOVOU       (q*16)(SI), X0; \
	MOVOU       ((q+14)*16)(SI), m; \
	SHA256RNDS2 X0, a, b; \
	PSHUFD      $0x0E, X0, X0; \
	SHA256RNDS2 X0, b, a

// NEXT finishes the message words n from the ones before them, c, and the
// ones before those, p.
#define NEXT(p, c, n, t) \
	MOVO       c, t; \
	PALIGNR    $4, p, t; \
	PADDD      t, n; \
	SHA256MSG2 c, n

// The rows of one compression, ROW being any from 4 to 12. Words 9 to 12 are
// zero, and so is what the schedule would make of them: row 3 has no PALIGNR,
// PADDD or SHA256MSG1.
#define Q0(a, b, m0) ROUNDS(0, m0, a, b)
#define Q1(a, b, m0, m1) ROUNDS(1, m1, a, b); SHA256MSG1 m1, m0
#define Q2(a, b, m1, m2) PADDING(2, m2, a, b); SHA256MSG1 m2, m1
#define Q3(a, b, m0, m3) PADDING(3, m3, a, b); SHA256MSG2 m3, m0
#define ROW(q, p, c, n, a, b, t) ROUNDS(q, c, a, b); NEXT(p, c, n, t); SHA256MSG1 c, p
#define Q13(a, b, m0, m1, m2, t) ROUNDS(13, m1, a, b); NEXT(m0, m1, m2, t)
#define Q14(a, b, m1, m2, m3, t) ROUNDS(14, m2, a, b); NEXT(m1, m2, m3, t)
#define Q15(a, b, m3) ROUNDS(15, m3, a, b)

// ONE compresses X3, X4 and the padding into X1, X2; X3 to X7 are used up.
#define ONE \
	Q0(X1, X2, X3); \
	Q1(X1, X2, X3, X4); \
	Q2(X1, X2, X4, X5); \
	Q3(X1, X2, X3, X6); \
	ROW(4, X6, X3, X4, X1, X2, X7); \
	ROW(5, X3, X4, X5, X1, X2, X7); \
	ROW(6, X4, X5, X6, X1, X2, X7); \
	ROW(7, X5, X6, X3, X1, X2, X7); \
	ROW(8, X6, X3, X4, X1, X2, X7); \
	ROW(9, X3, X4, X5, X1, X2, X7); \
	ROW(10, X4, X5, X6, X1, X2, X7); \
	ROW(11, X5, X6, X3, X1, X2, X7); \
	ROW(12, X6, X3, X4, X1, X2, X7); \
	Q13(X1, X2, X3, X4, X5, X7); \
	Q14(X1, X2, X4, X5, X6, X7); \
	Q15(X1, X2, X6)

// TWO does the same, and with it X10, X11 into X8, X9; X10 to X14 are used up.
// Row by row is fine enough: a core that renames X0 finds the parallel work,
// and finer or staggered interleavings measured the same.
#define TWO \
	Q0(X1, X2, X3); Q0(X8, X9, X10); \
	Q1(X1, X2, X3, X4); Q1(X8, X9, X10, X11); \
	Q2(X1, X2, X4, X5); Q2(X8, X9, X11, X12); \
	Q3(X1, X2, X3, X6); Q3(X8, X9, X10, X13); \
	ROW(4, X6, X3, X4, X1, X2, X7); ROW(4, X13, X10, X11, X8, X9, X14); \
	ROW(5, X3, X4, X5, X1, X2, X7); ROW(5, X10, X11, X12, X8, X9, X14); \
	ROW(6, X4, X5, X6, X1, X2, X7); ROW(6, X11, X12, X13, X8, X9, X14); \
	ROW(7, X5, X6, X3, X1, X2, X7); ROW(7, X12, X13, X10, X8, X9, X14); \
	ROW(8, X6, X3, X4, X1, X2, X7); ROW(8, X13, X10, X11, X8, X9, X14); \
	ROW(9, X3, X4, X5, X1, X2, X7); ROW(9, X10, X11, X12, X8, X9, X14); \
	ROW(10, X4, X5, X6, X1, X2, X7); ROW(10, X11, X12, X13, X8, X9, X14); \
	ROW(11, X5, X6, X3, X1, X2, X7); ROW(11, X12, X13, X10, X8, X9, X14); \
	ROW(12, X6, X3, X4, X1, X2, X7); ROW(12, X13, X10, X11, X8, X9, X14); \
	Q13(X1, X2, X3, X4, X5, X7); Q13(X8, X9, X10, X11, X12, X14); \
	Q14(X1, X2, X4, X5, X6, X7); Q14(X8, X9, X11, X12, X13, X14); \
	Q15(X1, X2, X6); Q15(X8, X9, X13)

// ENTER turns eight words of the Lane at DI into a state a, b.
#define ENTER(at, a, b, t) \
	MOVOU   (at)(DI), t; \
	MOVOU   (at+16)(DI), b; \
	PSHUFD  $0xB1, t, t; \
	PSHUFD  $0x1B, b, b; \
	MOVO    t, a; \
	PALIGNR $8, b, a; \
	PBLENDW $0xF0, t, b

// WORDS turns the state a, b into eight words m0, m1.
#define WORDS(a, b, m0, m1, t) \
	PSHUFD  $0x1B, a, m0; \
	PSHUFD  $0xB1, b, m1; \
	MOVO    m0, t; \
	PBLENDW $0xF0, m1, m0; \
	PALIGNR $8, t, m1

// func chainHardware(l *Lane, n int)
// X8, X9 is the inner state, X10, X11 the outer one, X12, X13 the sum.
TEXT ·chainHardware(SB), NOSPLIT, $0-16
	MOVQ  l+0(FP), DI
	MOVQ  n+8(FP), CX
	LEAQ  ·table(SB), SI
	ENTER(Lane_inner, X8, X9, X7)
	ENTER(Lane_outer, X10, X11, X7)
	MOVOU (Lane_last)(DI), X3
	MOVOU (Lane_last+16)(DI), X4
	MOVOU (Lane_sum)(DI), X12
	MOVOU (Lane_sum+16)(DI), X13

	PCALIGN $64
loop:
	MOVO  X8, X1
	MOVO  X9, X2
	ONE
	PADDD X8, X1
	PADDD X9, X2
	WORDS(X1, X2, X3, X4, X7)
	MOVO  X10, X1
	MOVO  X11, X2
	ONE
	PADDD X10, X1
	PADDD X11, X2
	WORDS(X1, X2, X3, X4, X7)
	PXOR  X3, X12
	PXOR  X4, X13
	DECQ  CX
	JNZ   loop

	MOVOU X3, (Lane_last)(DI)
	MOVOU X4, (Lane_last+16)(DI)
	MOVOU X12, (Lane_sum)(DI)
	MOVOU X13, (Lane_sum+16)(DI)
	RET

// SAVE keeps a state in the aligned frame at R8.
#define SAVE(lane, from, to) \
	ENTER(lane*Lane__size+from, X1, X2, X7); \
	MOVO X1, (to)(R8); \
	MOVO X2, (to+16)(R8)

// BEGIN and END load and add the states at and at+64 of the frame.
#define BEGIN(at) \
	MOVO (at)(R8), X1; \
	MOVO (at+16)(R8), X2; \
	MOVO (at+64)(R8), X8; \
	MOVO (at+80)(R8), X9
#define END(at) \
	PADDD (at)(R8), X1; \
	PADDD (at+16)(R8), X2; \
	WORDS(X1, X2, X3, X4, X7); \
	PADDD (at+64)(R8), X8; \
	PADDD (at+80)(R8), X9; \
	WORDS(X8, X9, X10, X11, X14)

// ADD takes the words m into the sum, at its place in the Lane.
#define ADD(at, m, t) \
	MOVOU (at)(DI), t; \
	PXOR  m, t; \
	MOVOU t, (at)(DI)

// func lanesHardware(l *[NumLanes]Lane, n int)
// The frame at R8 holds, for each lane, the inner and the outer state.
TEXT ·lanesHardware(SB), NOSPLIT, $192-16
	MOVQ  l+0(FP), DI
	MOVQ  n+8(FP), CX
	LEAQ  ·table(SB), SI
	LEAQ  frame-192(SP), R8
	ADDQ  $63, R8
	ANDQ  $~63, R8
	SAVE(0, Lane_inner, 0)
	SAVE(0, Lane_outer, 32)
	SAVE(1, Lane_inner, 64)
	SAVE(1, Lane_outer, 96)
	MOVOU (Lane_last)(DI), X3
	MOVOU (Lane_last+16)(DI), X4
	MOVOU (Lane__size+Lane_last)(DI), X10
	MOVOU (Lane__size+Lane_last+16)(DI), X11

	PCALIGN $64
loop:
	BEGIN(0)
	TWO
	END(0)
	BEGIN(32)
	TWO
	END(32)
	ADD(Lane_sum, X3, X5)
	ADD(Lane_sum+16, X4, X6)
	ADD(Lane__size+Lane_sum, X10, X12)
	ADD(Lane__size+Lane_sum+16, X11, X13)
	DECQ  CX
	JNZ   loop

	MOVOU X3, (Lane_last)(DI)
	MOVOU X4, (Lane_last+16)(DI)
	MOVOU X10, (Lane__size+Lane_last)(DI)
	MOVOU X11, (Lane__size+Lane_last+16)(DI)
	RET

// func cpuid(leaf uint32) (eax, ebx, ecx uint32)
TEXT ·cpuid(SB), NOSPLIT, $0-20
	MOVL  leaf+0(FP), AX
	XORL  CX, CX
	CPUID
	MOVL  AX, eax+8(FP)
	MOVL  BX, ebx+12(FP)
	MOVL  CX, ecx+16(FP)
	RET
