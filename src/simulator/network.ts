/**
 * The simulated network as somebody who plays with it sees it: its phones, and the switches of its faults. It outlives the carrier that works over it,
 * which is made anew when the catalogue changes.
 */
import { type NetworkFaults, NO_FAULTS } from "./network-faults.ts";
import type { PhoneState } from "./phone-states.ts";
import { type PhoneSummary, Phones, type PhoneView, type Viewer } from "./phones.ts";

/** What can be asked of the network, and switched: plain data, for those who ask are on another thread. */
export interface NetworkControl {
  phones(input: { readonly viewer: Viewer; readonly limit: number }): { phones: PhoneSummary[]; more: boolean };
  phone(input: { readonly number: string; readonly viewer: Viewer }): PhoneView;
  /** A state of null leaves it as it is: the phone is only to be there. */
  setPhone(input: { readonly number: string; readonly state: PhoneState | null; readonly viewer: Viewer }): PhoneView;
  faults(input: null): NetworkFaults;
  setFaults(input: NetworkFaults): NetworkFaults;
}

/** The same from afar. */
export type AskNetwork = <Name extends keyof NetworkControl>(
  name: Name,
  input: Parameters<NetworkControl[Name]>[0],
) => Promise<ReturnType<NetworkControl[Name]>>;

/** Who has to act on a switch: the carrier over this network. */
export interface NetworkListener {
  phoneSwitched(number: string): void;
  faultsChanged(): void;
}

export class SimulatedNetwork {
  readonly phones = new Phones();
  #faults = NO_FAULTS;
  readonly #listeners = new Set<NetworkListener>();

  /** As they are now: a carrier looks at them for every part. */
  get faults(): NetworkFaults {
    return this.#faults;
  }

  readonly control: NetworkControl = {
    phones: ({ viewer, limit }) => this.phones.list(viewer, limit),
    phone: ({ number, viewer }) => this.phones.show(number, viewer),
    setPhone: ({ number, state, viewer }) => {
      this.phones.set(number, state, viewer);
      for (const listener of this.#listeners) listener.phoneSwitched(number);
      return this.phones.show(number, viewer);
    },
    faults: () => this.#faults,
    setFaults: (faults) => {
      this.#faults = faults;
      for (const listener of this.#listeners) listener.faultsChanged();
      return faults;
    },
  };

  /** One of the calls by its name. */
  ask: AskNetwork = async (name, input) => {
    const call = this.control[name] as (input: unknown) => ReturnType<NetworkControl[typeof name]>;
    return call(input);
  };

  listen(listener: NetworkListener): void {
    this.#listeners.add(listener);
  }

  leave(listener: NetworkListener): void {
    this.#listeners.delete(listener);
  }
}
