//go:build linux || darwin

#include "go_asm.h"
#include "textflag.h"

// State and message are in ordinary order: a is (A B C D), b is (E F G H).
// The 16 rows of constants live in V16 to V31.

// ROUNDS does four rounds on the message words m with the constants k.
#define ROUNDS(k, m, a, b, s, t) \
	VADD     k.S4, m.S4, t.S4; \
	VMOV     a.B16, s.B16; \
	SHA256H  t.S4, b, a; \
	SHA256H2 t.S4, s, b

// PADDING does four rounds on words that k includes.
#define PADDING(k, a, b, s) \
	VMOV     a.B16, s.B16; \
	SHA256H  k.S4, b, a; \
	SHA256H2 k.S4, s, b

// The rows of one compression, of which ROW is any from 4 to 12: the state in
// a, b, the message in m0, m1; m2 and m3 get the padding. ROW and LAST finish
// the words n from c, the ones before, and p, the ones before those. Words 9
// to 12 are zero, and so is what the schedule would make of them: row 3 has
// no SHA256SU0.
#define Q0(a, b, s, t, m0) \
	ROUNDS(V16, m0, a, b, s, t)
#define Q1(a, b, s, t, m0, m1) \
	ROUNDS(V17, m1, a, b, s, t); \
	SHA256SU0 m1.S4, m0.S4
#define Q2(a, b, s, m1, m2) \
	PADDING(V18, a, b, s); \
	SHA256SU0 m2.S4, m1.S4
#define Q3(a, b, s, m0, m2, m3) \
	PADDING(V19, a, b, s); \
	SHA256SU1 m3.S4, m2.S4, m0.S4
#define ROW(k, p, c, n, a, b, s, t) \
	LAST(k, p, c, n, a, b, s, t); \
	SHA256SU0 c.S4, p.S4
#define LAST(k, p, c, n, a, b, s, t) \
	ROUNDS(k, c, a, b, s, t); \
	SHA256SU1 c.S4, p.S4, n.S4

// ONE compresses V4, V5 and the padding V6, V7 into V0, V1; V2 to V7 are used
// up.
#define ONE \
	Q0(V0, V1, V2, V3, V4); \
	Q1(V0, V1, V2, V3, V4, V5); \
	Q2(V0, V1, V2, V5, V6); \
	Q3(V0, V1, V2, V4, V6, V7); \
	ROW(V20, V7, V4, V5, V0, V1, V2, V3); \
	ROW(V21, V4, V5, V6, V0, V1, V2, V3); \
	ROW(V22, V5, V6, V7, V0, V1, V2, V3); \
	ROW(V23, V6, V7, V4, V0, V1, V2, V3); \
	ROW(V24, V7, V4, V5, V0, V1, V2, V3); \
	ROW(V25, V4, V5, V6, V0, V1, V2, V3); \
	ROW(V26, V5, V6, V7, V0, V1, V2, V3); \
	ROW(V27, V6, V7, V4, V0, V1, V2, V3); \
	ROW(V28, V7, V4, V5, V0, V1, V2, V3); \
	LAST(V29, V4, V5, V6, V0, V1, V2, V3); \
	LAST(V30, V5, V6, V7, V0, V1, V2, V3); \
	ROUNDS(V31, V7, V0, V1, V2, V3)

// TWO does the same, and with it V12, V13 and V14, V15 into V8, V9; V10 to V15
// are used up.
#define TWO \
	Q0(V0, V1, V2, V3, V4); Q0(V8, V9, V10, V11, V12); \
	Q1(V0, V1, V2, V3, V4, V5); Q1(V8, V9, V10, V11, V12, V13); \
	Q2(V0, V1, V2, V5, V6); Q2(V8, V9, V10, V13, V14); \
	Q3(V0, V1, V2, V4, V6, V7); Q3(V8, V9, V10, V12, V14, V15); \
	ROW(V20, V7, V4, V5, V0, V1, V2, V3); ROW(V20, V15, V12, V13, V8, V9, V10, V11); \
	ROW(V21, V4, V5, V6, V0, V1, V2, V3); ROW(V21, V12, V13, V14, V8, V9, V10, V11); \
	ROW(V22, V5, V6, V7, V0, V1, V2, V3); ROW(V22, V13, V14, V15, V8, V9, V10, V11); \
	ROW(V23, V6, V7, V4, V0, V1, V2, V3); ROW(V23, V14, V15, V12, V8, V9, V10, V11); \
	ROW(V24, V7, V4, V5, V0, V1, V2, V3); ROW(V24, V15, V12, V13, V8, V9, V10, V11); \
	ROW(V25, V4, V5, V6, V0, V1, V2, V3); ROW(V25, V12, V13, V14, V8, V9, V10, V11); \
	ROW(V26, V5, V6, V7, V0, V1, V2, V3); ROW(V26, V13, V14, V15, V8, V9, V10, V11); \
	ROW(V27, V6, V7, V4, V0, V1, V2, V3); ROW(V27, V14, V15, V12, V8, V9, V10, V11); \
	ROW(V28, V7, V4, V5, V0, V1, V2, V3); ROW(V28, V15, V12, V13, V8, V9, V10, V11); \
	LAST(V29, V4, V5, V6, V0, V1, V2, V3); LAST(V29, V12, V13, V14, V8, V9, V10, V11); \
	LAST(V30, V5, V6, V7, V0, V1, V2, V3); LAST(V30, V13, V14, V15, V8, V9, V10, V11); \
	ROUNDS(V31, V7, V0, V1, V2, V3); ROUNDS(V31, V15, V8, V9, V10, V11)

// CONSTANTS loads V16 to V31 and leaves R2 at the padding.
#define CONSTANTS \
	MOVD   $·table(SB), R2; \
	VLD1.P 64(R2), [V16.S4, V17.S4, V18.S4, V19.S4]; \
	VLD1.P 64(R2), [V20.S4, V21.S4, V22.S4, V23.S4]; \
	VLD1.P 64(R2), [V24.S4, V25.S4, V26.S4, V27.S4]; \
	VLD1.P 64(R2), [V28.S4, V29.S4, V30.S4, V31.S4]

// func chainHardware(l *Lane, n int)
// V8, V9 is the inner state, V10, V11 the outer one, V12, V13 the sum, V14,
// V15 the padding: the loop touches no memory.
TEXT ·chainHardware(SB), NOSPLIT, $0-16
	MOVD l+0(FP), R0
	MOVD n+8(FP), R1
	CONSTANTS
	VLD1  (R2), [V14.S4, V15.S4]
	FMOVQ (Lane_inner)(R0), F8
	FMOVQ (Lane_inner+16)(R0), F9
	FMOVQ (Lane_outer)(R0), F10
	FMOVQ (Lane_outer+16)(R0), F11
	FMOVQ (Lane_last)(R0), F4
	FMOVQ (Lane_last+16)(R0), F5
	FMOVQ (Lane_sum)(R0), F12
	FMOVQ (Lane_sum+16)(R0), F13

	PCALIGN $64
loop:
	VMOV V8.B16, V0.B16
	VMOV V9.B16, V1.B16
	VMOV V14.B16, V6.B16
	VMOV V15.B16, V7.B16
	ONE
	VADD V0.S4, V8.S4, V4.S4
	VADD V1.S4, V9.S4, V5.S4
	VMOV V10.B16, V0.B16
	VMOV V11.B16, V1.B16
	VMOV V14.B16, V6.B16
	VMOV V15.B16, V7.B16
	ONE
	VADD V0.S4, V10.S4, V4.S4
	VADD V1.S4, V11.S4, V5.S4
	VEOR V4.B16, V12.B16, V12.B16
	VEOR V5.B16, V13.B16, V13.B16
	SUBS $1, R1, R1
	BNE  loop

	FMOVQ F4, (Lane_last)(R0)
	FMOVQ F5, (Lane_last+16)(R0)
	FMOVQ F12, (Lane_sum)(R0)
	FMOVQ F13, (Lane_sum+16)(R0)
	RET

// BEGIN loads the states at and the padding, END adds the states and moves
// the results to where the next message belongs.
#define BEGIN(at) \
	FMOVQ (at)(R0), F0; \
	FMOVQ (at+16)(R0), F1; \
	VLD1  (R2), [V6.S4, V7.S4]; \
	FMOVQ (Lane__size+at)(R0), F8; \
	FMOVQ (Lane__size+at+16)(R0), F9; \
	VLD1  (R2), [V14.S4, V15.S4]
#define END(at) \
	FMOVQ (at)(R0), F4; \
	FMOVQ (at+16)(R0), F5; \
	VADD  V0.S4, V4.S4, V4.S4; \
	VADD  V1.S4, V5.S4, V5.S4; \
	FMOVQ (Lane__size+at)(R0), F12; \
	FMOVQ (Lane__size+at+16)(R0), F13; \
	VADD  V8.S4, V12.S4, V12.S4; \
	VADD  V9.S4, V13.S4, V13.S4

// ADD takes the words m into the sum, at its place in the Lane.
#define ADD(at, m, f, v) \
	FMOVQ (at)(R0), f; \
	VEOR  m.B16, v.B16, v.B16; \
	FMOVQ f, (at)(R0)

// func lanesHardware(l *[NumLanes]Lane, n int)
// Both lanes and the constants take all registers: the rest stays in memory.
TEXT ·lanesHardware(SB), NOSPLIT, $0-16
	MOVD  l+0(FP), R0
	MOVD  n+8(FP), R1
	CONSTANTS
	FMOVQ (Lane_last)(R0), F4
	FMOVQ (Lane_last+16)(R0), F5
	FMOVQ (Lane__size+Lane_last)(R0), F12
	FMOVQ (Lane__size+Lane_last+16)(R0), F13

	PCALIGN $64
loop:
	BEGIN(Lane_inner)
	TWO
	END(Lane_inner)
	BEGIN(Lane_outer)
	TWO
	END(Lane_outer)
	ADD(Lane_sum, V4, F6, V6)
	ADD(Lane_sum+16, V5, F7, V7)
	ADD(Lane__size+Lane_sum, V12, F14, V14)
	ADD(Lane__size+Lane_sum+16, V13, F15, V15)
	SUBS $1, R1, R1
	BNE  loop

	FMOVQ F4, (Lane_last)(R0)
	FMOVQ F5, (Lane_last+16)(R0)
	FMOVQ F12, (Lane__size+Lane_last)(R0)
	FMOVQ F13, (Lane__size+Lane_last+16)(R0)
	RET
