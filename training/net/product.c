// Blocked matrix products. The shape of a block decides which kernel OpenBLAS takes and in which
// order it adds, so blocks depend on the sizes of the product alone, never on the number of
// threads.
#include "training/net/product.h"
#include "core/sweep/blas.h"

// Rows (or columns) of a block: the library packs the other factor anew for each, so few are as
// many as some threads need, a quarter, and 16 blocks are the most.
enum { BLOCK_MIN = 128, BLOCK = 256, BLOCKS = 16 };

static int64_t block_of(int64_t rows) {
    return hn_max(hn_min(hn_max(BLOCK_MIN, rows / 4), BLOCK), (rows + BLOCKS - 1) / BLOCKS);
}

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

void hn_count_product(struct hn_workers workers, int64_t m, int64_t n, int64_t k) {
    if (workers.flops)
        atomic_fetch_add_explicit(workers.flops, 2 * m * n * k, memory_order_relaxed);
}

void hn_product(struct hn_workers workers, struct hn_factor a, struct hn_factor b, int64_t m,
                int64_t n, int64_t k, bool add, hn_real *c, int64_t ldc) {
    bool by_rows = m >= n; // the longer side is cut
    int64_t side = by_rows ? m : n, block = block_of(side), blocks = (side + block - 1) / block;
    hn_real beta = add ? 1 : 0;
    hn_count_product(workers, m, n, k);
#pragma omp parallel for num_threads(workers.threads)                                              \
    schedule(dynamic) if (workers.threads > 1 && blocks > 1)
    for (int64_t i = 0; i < blocks; i++) {
        int64_t first = i * block, size = hn_min(block, side - first);
        struct hn_factor left = a, right = b;
        if (by_rows)
            left.data += a.transposed ? first : first * a.stride;
        else
            right.data += b.transposed ? first * b.stride : first;
        multiply(left, right, by_rows ? size : m, by_rows ? n : size, k, beta,
                 c + first * (by_rows ? ldc : 1), ldc);
    }
}
