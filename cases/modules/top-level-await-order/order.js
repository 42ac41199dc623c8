export const order = [];
globalThis.order = order;
