"""Which functions a kernel can call, against ptxas."""
