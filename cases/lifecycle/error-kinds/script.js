class OwnError extends Error { constructor(message) { super(message); this.name = 'OwnError'; this.code = 7; } }
export const options = { iterations: 6 };
const thrown = [() => new OwnError('own'), () => new Error('with cause', { cause: new Error('deep') }), () => new AggregateError([new Error('a')], 'several'), () => ({ message: 'plain object' }), () => 'only text', () => undefined];
export default function () { throw thrown[__ITER](); }
