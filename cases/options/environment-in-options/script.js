export const options = { vus: 1, iterations: Number(__ENV.HOW_MANY) };
export default function () {}
