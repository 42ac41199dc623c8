export * from 'k6/http';
export const own = 1;
export const post = 'own';
