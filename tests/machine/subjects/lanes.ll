; Checks of vectors are made lane by lane; an index beyond the lanes gives nothing defined.
; OPTIONS: --check overflow
; EXPECT paths: exit 1 error 3
; EXPECT error: overflow line 0
; EXPECT error: division-by-zero line 0
; EXPECT error: out-of-bounds line 0
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-musl"

declare i32 @klee_int(ptr)
declare i32 @klee_range(i32, i32, ptr)
@x = private constant [2 x i8] c"x\00"
@which = private constant [6 x i8] c"which\00"

define i32 @main() {
  %x = call i32 @klee_int(ptr @x)
  %which = call i32 @klee_range(i32 0, i32 2, ptr @which)
  %v0 = insertelement <2 x i32> <i32 5, i32 7>, i32 %x, i32 1
  %sum = add nsw <2 x i32> %v0, <i32 1, i32 100>
  %quotient = udiv <2 x i32> <i32 10, i32 20>, %v0
  %c = icmp eq i32 %which, 0
  br i1 %c, label %beyond, label %fine
beyond:
  %index = add i32 %which, 2
  %bad = insertelement <2 x i32> %quotient, i32 1, i32 2
  %lane = extractelement <2 x i32> %bad, i32 0
  %d = icmp eq i32 %lane, 2
  br i1 %d, label %fine, label %fine2
fine2:
  ret i32 1
fine:
  %first = extractelement <2 x i32> %sum, i32 0
  ret i32 %first
}
