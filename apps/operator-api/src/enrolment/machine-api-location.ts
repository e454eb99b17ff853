/** Where machines reach the plane, as enrolment tokens tell them. */
export class MachineApiLocation {
  constructor(
    /** Origin, `https://host:port`. */
    readonly address: string,
    /** Pins of the CA key to expect there; empty for a public certificate. */
    readonly pins: readonly string[],
  ) {}
}
