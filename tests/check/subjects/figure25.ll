; The control flow graph of Figure 2.5 of the thesis: only entry, B1, B6 and B7 choose.
define void @figure25(i1 %cEntry, i1 %c1, i1 %c6, i1 %c7) {
entry:
  br i1 %cEntry, label %B1, label %B2
B1:
  br i1 %c1, label %B5, label %B4
B2:
  br label %B3
B3:
  br label %B7
B4:
  br label %B6
B5:
  br label %B6
B6:
  br i1 %c6, label %B9, label %B8
B7:
  br i1 %c7, label %B8, label %Exit
B8:
  br label %Exit
B9:
  br label %Exit
Exit:
  ret void
}
