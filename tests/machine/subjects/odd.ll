; Odd widths as LLVM writes them, known and symbolic; one-bit arithmetic; freeze; saturating intrinsics.
; EXPECT paths: exit 5 error 0
; EXPECT exit codes: 0 1
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-musl"

declare i32 @klee_int(ptr)
declare void @abort()
declare i3 @llvm.uadd.sat.i3(i3, i3)
declare i8 @llvm.sadd.sat.i8(i8, i8)
declare i8 @llvm.ssub.sat.i8(i8, i8)
declare i8 @llvm.usub.sat.i8(i8, i8)
declare i8 @llvm.ushl.sat.i8(i8, i8)
declare i8 @llvm.sshl.sat.i8(i8, i8)
declare i33 @llvm.bitreverse.i33(i33)
declare i16 @llvm.fshl.i16(i16, i16, i16)
declare i16 @llvm.fshr.i16(i16, i16, i16)
declare i7 @llvm.ctpop.i7(i7)
declare i7 @llvm.ctlz.i7(i7, i1)
declare i7 @llvm.cttz.i7(i7, i1)
declare { i7, i1 } @llvm.smul.with.overflow.i7(i7, i7)
declare i65 @llvm.smax.i65(i65, i65)
declare i32 @llvm.scmp.i32.i8(i8, i8)
declare i32 @llvm.fptosi.sat.i32.f64(double)
declare i8 @llvm.fptoui.sat.i8.f32(float)

@name = private constant [2 x i8] c"x\00"
@slot = global i65 0
@odd = global [3 x i7] [i7 1, i7 -1, i7 64]

define void @must(i1 %c) {
  br i1 %c, label %ok, label %bad
ok:
  ret void
bad:
  call void @abort()
  unreachable
}

define void @known(i8 %zero) {
  %z3 = trunc i8 %zero to i3
  %six = add i3 %z3, 6
  %wrapped = add i3 %six, 5
  %c1 = icmp eq i3 %wrapped, 3
  call void @must(i1 %c1)
  %signed = sext i3 %six to i33
  %c2 = icmp eq i33 %signed, -2
  call void @must(i1 %c2)
  %t = trunc i8 %zero to i1
  %u = add i1 %t, true
  %v = add i1 %u, true
  %c3 = icmp eq i1 %v, false
  call void @must(i1 %c3)
  %m = mul i1 %u, true
  call void @must(i1 %m)
  %c4 = icmp slt i1 %u, %t
  call void @must(i1 %c4)
  %w1 = sext i1 %u to i65
  %c5 = icmp eq i65 %w1, -1
  call void @must(i1 %c5)
  store i65 %w1, ptr @slot
  %back = load i65, ptr @slot
  %c6 = icmp eq i65 %back, %w1
  call void @must(i1 %c6)
  %top = load i8, ptr getelementptr (i8, ptr @slot, i64 8)
  %c7 = icmp eq i8 %top, 1
  call void @must(i1 %c7)
  %el = load i7, ptr getelementptr ([3 x i7], ptr @odd, i64 0, i64 1)
  %c8 = icmp eq i7 %el, 127
  call void @must(i1 %c8)
  %d = sdiv i7 %el, 1
  %c9 = icmp slt i7 %d, 0
  call void @must(i1 %c9)
  %fr = freeze i8 %zero
  %c10 = icmp eq i8 %fr, 0
  call void @must(i1 %c10)
  ret void
}

define void @intrinsics(i8 %zero) {
  %z3 = trunc i8 %zero to i3
  %six = add i3 %z3, 6
  %sat = call i3 @llvm.uadd.sat.i3(i3 %six, i3 %six)
  %c1 = icmp eq i3 %sat, 7
  call void @must(i1 %c1)
  %big = add i8 %zero, 100
  %a = call i8 @llvm.sadd.sat.i8(i8 %big, i8 %big)
  %c2 = icmp eq i8 %a, 127
  call void @must(i1 %c2)
  %neg = sub i8 %zero, 100
  %b = call i8 @llvm.ssub.sat.i8(i8 %neg, i8 %big)
  %c3 = icmp eq i8 %b, -128
  call void @must(i1 %c3)
  %c = call i8 @llvm.usub.sat.i8(i8 %zero, i8 %big)
  %c4 = icmp eq i8 %c, 0
  call void @must(i1 %c4)
  %d = call i8 @llvm.ushl.sat.i8(i8 %big, i8 2)
  %c5 = icmp eq i8 %d, 255
  call void @must(i1 %c5)
  %e = call i8 @llvm.sshl.sat.i8(i8 %neg, i8 1)
  %c6 = icmp eq i8 %e, -128
  call void @must(i1 %c6)
  %z33 = zext i8 %zero to i33
  %one33 = add i33 %z33, 1
  %f = call i33 @llvm.bitreverse.i33(i33 %one33)
  %c7 = icmp eq i33 %f, 4294967296
  call void @must(i1 %c7)
  %z16 = zext i8 %zero to i16
  %g0 = or i16 %z16, 4660
  %g = call i16 @llvm.fshl.i16(i16 %g0, i16 -1, i16 20)
  %c8 = icmp eq i16 %g, 9039
  call void @must(i1 %c8)
  %h = call i16 @llvm.fshr.i16(i16 %g0, i16 0, i16 4)
  %c9 = icmp eq i16 %h, 16384
  call void @must(i1 %c9)
  %z7 = trunc i8 %zero to i7
  %p0 = or i7 %z7, 96
  %p = call i7 @llvm.ctpop.i7(i7 %p0)
  %c10 = icmp eq i7 %p, 2
  call void @must(i1 %c10)
  %q = call i7 @llvm.cttz.i7(i7 %p0, i1 false)
  %c11 = icmp eq i7 %q, 5
  call void @must(i1 %c11)
  %r = call i7 @llvm.ctlz.i7(i7 %z7, i1 false)
  %c12 = icmp eq i7 %r, 7
  call void @must(i1 %c12)
  %s0 = add i7 %z7, 20
  %s = call { i7, i1 } @llvm.smul.with.overflow.i7(i7 %s0, i7 4)
  %s1 = extractvalue { i7, i1 } %s, 0
  %s2 = extractvalue { i7, i1 } %s, 1
  %c13 = icmp eq i7 %s1, -48
  call void @must(i1 %c13)
  call void @must(i1 %s2)
  %z65 = zext i8 %zero to i65
  %m0 = sub i65 %z65, 1
  %m1 = call i65 @llvm.smax.i65(i65 %m0, i65 %z65)
  %c14 = icmp eq i65 %m1, 0
  call void @must(i1 %c14)
  %cmp = call i32 @llvm.scmp.i32.i8(i8 %neg, i8 %big)
  %c15 = icmp eq i32 %cmp, -1
  call void @must(i1 %c15)
  %dbl = uitofp i8 %big to double
  %huge = fmul double %dbl, 1.0e+30
  %i1 = call i32 @llvm.fptosi.sat.i32.f64(double %huge)
  %c16 = icmp eq i32 %i1, 2147483647
  call void @must(i1 %c16)
  %flt = sitofp i8 %neg to float
  %i2 = call i8 @llvm.fptoui.sat.i8.f32(float %flt)
  %c17 = icmp eq i8 %i2, 0
  call void @must(i1 %c17)
  ret void
}

define i32 @main() {
  call void @known(i8 0)
  call void @intrinsics(i8 0)
  %x = call i32 @klee_int(ptr @name)
  %x3 = trunc i32 %x to i3
  %low = icmp ult i3 %x3, 2
  br i1 %low, label %few, label %rest
few:
  %is = trunc i3 %x3 to i1
  %n = xor i1 %is, true
  %both = and i1 %is, %n
  %never = xor i1 %both, true
  call void @must(i1 %never)
  br i1 %is, label %one, label %zero
one:
  ret i32 1
zero:
  ret i32 0
rest:
  %x65 = sext i32 %x to i65
  %sum = add i65 %x65, 1
  store i65 %sum, ptr @slot
  %again = load i65, ptr @slot
  %neg = icmp slt i65 %again, 0
  switch i3 %x3, label %others [
    i3 2, label %two
    i3 -1, label %two
  ]
two:
  %fz = freeze i1 %neg
  %code = zext i1 %fz to i32
  br i1 %fz, label %one, label %zero
others:
  %sat = call i3 @llvm.uadd.sat.i3(i3 %x3, i3 5)
  %top = icmp eq i3 %sat, 7
  call void @must(i1 %top)
  ret i32 0
}
