export const options = { iterations: 2, tags: { from: 'module' } };
