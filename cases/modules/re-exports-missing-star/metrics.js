export * from 'k6/metrics';
export const own = 1;
