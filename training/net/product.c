// Blocked matrix products. The shape of a block decides which kernel OpenBLAS takes and in which
// order it adds, so blocks depend on the sizes of the product alone, never on the number of
// threads.
#include "training/net/product.h"
#include "core/sweep/blas.h"

// Rows of a block: large enough to pay for the packing of b, few enough for some threads.
enum { BLOCK_MIN = 64, BLOCKS = 16 };

static void multiply(struct hn_factor a, struct hn_factor b, int64_t m, int64_t n, int64_t k,
                     hn_real beta, hn_real *c, int64_t ldc) {
    const struct hn_gemm_shape shape = {a.transposed, b.transposed, m,  n, k,
                                        a.stride,     b.stride,     ldc};
#ifdef HN_REAL_DOUBLE
    hn_gemm_double(shape, a.data, b.data, beta, c);
#else
    hn_gemm_float(shape, a.data, b.data, beta, c);
#endif
}

void hn_product(struct hn_workers workers, struct hn_factor a, struct hn_factor b, int64_t m,
                int64_t n, int64_t k, bool add, hn_real *c, int64_t ldc) {
    int64_t block = hn_max(BLOCK_MIN, (m + BLOCKS - 1) / BLOCKS);
    int64_t blocks = (m + block - 1) / block;
    hn_real beta = add ? 1 : 0;
    if (workers.flops)
        atomic_fetch_add_explicit(workers.flops, 2 * m * n * k, memory_order_relaxed);
#pragma omp parallel for num_threads(workers.threads)                                              \
    schedule(dynamic) if (workers.threads > 1 && blocks > 1)
    for (int64_t i = 0; i < blocks; i++) {
        int64_t first = i * block, rows = hn_min(block, m - first);
        struct hn_factor part = a;
        part.data += a.transposed ? first : first * a.stride;
        multiply(part, b, rows, n, k, beta, c + first * ldc, ldc);
    }
}
