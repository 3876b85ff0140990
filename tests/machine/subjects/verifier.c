// The functions of the verification competition.
// EXPECT paths: exit 8 error 1
extern int __VERIFIER_nondet_int(void);
extern _Bool __VERIFIER_nondet_bool(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern char __VERIFIER_nondet_char(void);
extern long __VERIFIER_nondet_long(void);
extern float __VERIFIER_nondet_float(void);
extern unsigned short __VERIFIER_nondet_ushort(void);
extern void __VERIFIER_nondet_memory(void *, unsigned long);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_assert(int);
extern void reach_error(void);
extern void abort(void);

int main(void) {
  int x = __VERIFIER_nondet_int();
  __VERIFIER_assume(x >= 0 && x < 5);
  _Bool b = __VERIFIER_nondet_bool();
  if (x == 0) return b ? 1 : 0;
  if (x == 1) { unsigned char c = __VERIFIER_nondet_uchar(); return c < 200 ? 2 : 3; }
  if (x == 2) {
    char m[2];
    __VERIFIER_nondet_memory(m, 2);
    if (m[0] == m[1]) return 4;
    return 5;
  }
  if (x == 3) {
    float f = __VERIFIER_nondet_float();
    if (f == 0.5f) return 6;
    return 7;
  }
  if (__VERIFIER_nondet_long() == 77 && __VERIFIER_nondet_ushort() == 3) reach_error(); /* ERROR: reach-error */
  return 0;
}
