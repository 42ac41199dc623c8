export const options = { vus: 1 };
