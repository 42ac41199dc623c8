export const options = { vus: 3 };
