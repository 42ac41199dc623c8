class O { constructor() { this.vus = 2; this.iterations = 4; } }
export const options = new O();
export default function () {}
