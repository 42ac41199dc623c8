export const options = { vus: 1, iterations: 5 };
class Own extends Error { constructor(message) { super(message); this.name = 'Own'; } }
const reasons = [() => new Error('an error'), () => 'a text', () => ({ a: 1 }), () => undefined, () => new Own('mine')];
export default function () { Promise.reject(reasons[__ITER]()); }
