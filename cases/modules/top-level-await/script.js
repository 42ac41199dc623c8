const value = await new Promise((resolve) => resolve('awaited'));
export default function () { console.log(value); }
