export const x = await (async () => { throw new RangeError('in a module'); })();
