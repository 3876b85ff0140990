"""`anabranch cc`: a compiler whose programs come with their whole-program bitcode."""
